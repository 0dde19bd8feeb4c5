#!/usr/bin/env bash
# Runs a step's program under Nsight Systems and prints the tables that matter for this step, with a sentence
# on what to see in each. `make nsys STEP=NN` calls it. The report is kept in build/profiles.
#
#   STEP=NN                    the step
#   WHICH=exercise|solution    which of the two (default: exercise)
#   N=N                        points per side (default: the step's own)
#   ITERATIONS=K               sweeps (default: as many as `make run` times, at most 500)
#   RANKS=R                    how many ranks run a step for several GPUs (default: one per GPU); a report for each
#   BASELINE=previous          also profiles the previous step, at the same n, and shows both side by side
#   REPORT=FILE.csv            runs nothing: shows a report that was kept (build/profiles, results)
# If it is not in the usual places: LAB_NSYS=/path/to/nsys. See scripts/lib/profilers.sh.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../lib/profilers.sh"

start_profile nsys
backend=gpu
read_ranks
ranks_of_run
ready_profiler

iterations=${ITERATIONS:-$((step_iterations > 500 ? 500 : step_iterations))}
build_for_profile

# profile STEP WHICH: makes profiles/nsys_WHICH_STEP.nsys-rep and .csv; of a job _rank0.nsys-rep and so on for each rank,
# and of them all .csv is that of rank 0.
profile() {
  local name=nsys_$2_$1 program=$build_dir/bin/$2_$1 status=0 log=$work/log job="" rank one report
  local -a launch=() names=("$name")
  local tables=(--report nvtx_sum --report cuda_gpu_kern_sum --report cuda_api_sum --report cuda_gpu_mem_size_sum --report um_total_sum)
  if [[ -n $ranks ]] && has_ranks "$lab_root/$2s/$1"/*.cu; then
    # In the name {rank} becomes the rank's number.
    launch=("$build_dir/bin/ranks" "$ranks" "$lab_root/scripts/lib/each_rank.sh") job="_rank{rank}" names=()
    for ((rank = 0; rank < ranks; ++rank)); do names+=("${name}_rank$rank"); done
  fi
  say "$2 $1, n = $n, $iterations iterations, ${job:+$(many "$ranks" rank), }under nsys $tool_version ..."
  "${launch[@]}" "$tool_path" profile -t cuda,nvtx --sample=none --cpuctxsw=none "${options[@]}" \
    --force-overwrite=true -o "$work/$name$job" "$program" --n "$n" --iterations "$iterations" \
    --quiet >"$log" 2>&1 </dev/null || status=$?
  rm -f "$profiles_dir/${name}_rank"*.{nsys-rep,csv}
  # (No pipe into grep -q, which ends at the first line: then what writes on is ended, and the pipe has failed.)
  if [[ $(labtool profilers.profile_tables questions --tool nsys --step "${1%%_*}") == *$'\t'timeline* ]]; then tables+=(--report cuda_gpu_trace); fi
  for one in "${names[@]}"; do
    report=$work/$one.nsys-rep
    judge_run "$status" "$log" "$report" "$program"
    "$tool_path" stats "${tables[@]}" --format csv --force-export=true "$report" >"$work/stats.csv" 2>&1 </dev/null || true
    if ! grep -q '^"\?T\(ime\|otal\).*,' "$work/stats.csv" && ((10#${1%%_*} > 0)); then
      tail -n 10 "$work/stats.csv" >&2
      die 1 "nsys stats wrote no table of the report; its messages are above"
    fi
    # Without what nsys says of its files: the tables are told by their columns. Of the time line the kernels alone, and a few
    # of them: all of them would be a long table.
    { head_of_report "$1" "$2" - && awk '
      /^(Generating SQLite|Processing \[|SKIPPED: |WARNING: )/ { next }
      /^Start / { timeline = 1; print; next }
      !timeline { print; next }
      /_kernel[<(]|,ncclDevKernel_SendRecv/ { line[count++] = $0 }
      END { for (k = int(count / 2); k < count && k < int(count / 2) + 12; ++k) print line[k] }' "$work/stats.csv"; } \
      >"$work/$one.csv"
    mv -f "$report" "$work/$one.csv" "$profiles_dir"
  done
  if [[ -n $job ]]; then
    cp "$profiles_dir/${name}_rank0.csv" "$work/$name.csv"
    mv -f "$work/$name.csv" "$profiles_dir"
  fi
}

profile_both
if ((${ranks:-1} > 1)); then
  say "That is rank 0's."
  files=()
  for ((rank = 0; rank < ranks; ++rank)); do files+=("$profiles_dir/nsys_${which}_${step}_rank$rank.csv"); done
  labtool profilers.rank_ranges "${files[@]}"
  say ""
fi
say "The report (nsys-ui draws its time line${ranks:+; one for each rank}):"
say "  ${profiles_dir#"$lab_root"/}/nsys_${which}_$step${ranks:+_rank0}.nsys-rep"
