#!/usr/bin/env bash
# Runs a step's program under Nsight Compute, which looks at one launch of a kernel, and prints the sections that
# matter for this step, with a sentence on what to see in each. `make ncu STEP=NN` calls it. The report is kept in
# build/profiles.
#
#   STEP=NN                    the step
#   CLINIC=NAME                or the kernel of the clinic
#   WHICH=exercise|solution    which of the two (default: exercise)
#   KERNEL=REGEX               the kernels (default: the sweep or pass, and copy_field if a question is about it)
#   SET=NAME                   what to collect: full (the default), detailed, basic ... (ncu --list-sets)
#   N=N                        points per side (default: the step's own)
#   ITERATIONS=K               sweeps (default: 10, from step 13 on 240; the sixth launch is looked at)
#   RANKS=1                    a step for several GPUs runs as one rank, with the whole grid: ncu looks at only one here
#   BASELINE=previous          also profiles the previous step, at the same n, and shows both side by side
#   REPORT=FILE.csv            runs nothing: shows a report that was kept (build/profiles, results)
# If it is not in the usual places: LAB_NCU=/path/to/ncu. See scripts/lib/profilers.sh.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../lib/profilers.sh"

start_profile ncu
set_name=${SET:-full} iterations=${ITERATIONS:-10}
# A pass is several sweeps there: six of the largest take more, whatever their number of sweeps.
if [[ -z ${ITERATIONS:-}${CLINIC:-} ]] && ((10#$step_number > 12)); then iterations=240; fi
[[ $set_name =~ ^[A-Za-z_]+$ ]] || die $exit_bad_usage "SET=$set_name: must be a name, such as full, detailed or basic"
((iterations >= 6)) || die $exit_bad_usage "ITERATIONS=$iterations: must be 6 or more, because ncu looks at the sixth launch"
if [[ $step_source != *.cu ]]; then
  say_wrapped "$step: skipped: it has no kernel, and ncu looks at kernels. Try make nsys, or make trace" >&2
  exit $exit_no_gpu
fi
read_ranks
# While one rank replays a kernel the others wait, and a replayed kernel of NCCL would wait for them for good.
[[ ${RANKS:-1} == 1 ]] ||
  die $exit_bad_usage "RANKS=$RANKS: ncu looks at a job of one rank; all of them: make nsys $step_words RANKS=$RANKS"
ready_profiler

# The sections that this step's questions are about; and which kernels.
sections=() regex="jacobi_sweep|jacobi_pass" launches=1 skipped=5 # a pass is several sweeps, from step 13 on
# Before the finest grid a start works on coarser ones, each of which has two cycles or so.
if [[ $step_number == 16 ]]; then regex+="|defect_kernel" skipped=60; fi
while IFS=$'\t' read -r kernel what; do
  sections+=(--section "$what")
  if [[ $kernel == copy ]]; then regex="jacobi_sweep|copy_field" launches=2; fi # they take turns
done < <(labtool profilers.profile_tables questions --tool ncu --step "${CLINIC:-$step_number}")
if [[ -n ${CLINIC:-} ]]; then regex=_kernel launches=1; fi
if [[ -n ${KERNEL:-} ]]; then regex=$KERNEL launches=1; fi
if [[ $set_name == full ]]; then sections+=(--section SpeedOfLight_HierarchicalSingleRooflineChart); fi
build_for_profile

# profile STEP WHICH: makes profiles/ncu_WHICH_STEP.ncu-rep and .csv.
profile() {
  local name=ncu_$2_$1 program=$build_dir/bin/$2_$1 status=0 log=$work/log report metrics one_rank=""
  if [[ -z ${CLINIC:-} ]] && has_ranks "$lab_root/$2s/$1"/*.cu; then one_rank=1; fi
  report=$work/$name.ncu-rep
  metrics=$(labtool profilers.profile_tables metrics)
  say "$2 $1, n = $n, ${one_rank:+one rank, }under ncu $tool_version (set $set_name) ..."
  local command=("$tool_path" --set "$set_name" "${sections[@]}" "${options[@]}"
    --kernel-name "regex:$regex" --launch-skip "$skipped" --launch-count "$launches" -f -o "$work/$name")
  local of_program=("$program" --n "$n" --iterations "$iterations" --quiet)
  "${command[@]}" --metrics "$metrics" "${of_program[@]}" >"$log" 2>&1 </dev/null || status=$?
  if [[ ! -f $report ]] && grep -qi 'failed to find metric' "$log"; then
    # Some GPUs have no DRAM of their own to count at, for example.
    say "  (this GPU lacks some of the metrics; once more with only the sections)"
    status=0
    "${command[@]}" "${of_program[@]}" >"$log" 2>&1 </dev/null || status=$?
  fi
  if ((status <= 1)) && [[ ! -f $report ]] && grep -q 'No kernels were profiled' "$log"; then
    explain_failure "$log" # a cause with a name comes first
    die 1 "no launch of a kernel that matches '$regex' was seen after the first $skipped: KERNEL=REGEX, ITERATIONS=K"
  fi
  judge_run "$status" "$log" "$report" "$program"
  "$tool_path" --import "$report" --csv --page raw --print-units base >"$work/raw.csv" 2>&1 </dev/null || status=$?
  {
    head_of_report "$1" "$2" "$regex" &&
      labtool profilers.profile_tables trim "$work/raw.csv"
  } >"$work/$name.csv" || {
    tail -n 10 "$work/raw.csv" >&2
    die 1 "ncu could not print its report; its messages are above"
  }
  mv -f "$report" "$work/$name.csv" "$profiles_dir"
}

profile_both
if ((step_ranks)); then
  say "That is one rank, with the whole grid. What several ranks wait for:"
  say "  make nsys STEP=$step_number RANKS=2"
fi
say "The report (ncu-ui draws its rooflines; ncu --import prints it, with advice):"
say "  ${profiles_dir#"$lab_root"/}/ncu_${which}_$step_target.ncu-rep"
