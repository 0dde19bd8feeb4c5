#!/usr/bin/env bash
# Runs a step's program under the lab's own tracer, and prints in 80 columns what nsys would: NVTX ranges, kernels, CUDA
# calls, copies, unified memory. `make trace STEP=NN` calls it. It needs no nsys, and no permission to count.
#
#   STEP=NN                    the step
#   CLINIC=NAME                or the kernel of the clinic
#   WHICH=exercise|solution    which of the two (default: exercise)
#   N=N                        points per side (default: the step's own)
#   ITERATIONS=K               sweeps (default: as many as `make run` times)
#   RANKS=R                    how many ranks run a step for several GPUs (default: as in make run); a table for each
#   BACKEND=gpu|cpu            where the kernels run; on the CPU NVTX ranges have times, and kernels, copies
#                              and allocations are counted
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../lib/lib.sh"

read_step_or_kernel
read_which
read_ranks
read_backend
n=${N:-$step_n} iterations=${ITERATIONS:-$step_iterations}
check_n "$n"
check_iterations "$iterations"
need_python

build_step
if [[ $backend == cpu ]]; then
  if [[ -z ${N:-} ]] && ((n > 256)); then n=256; fi
  if [[ -z ${ITERATIONS:-} ]] && ((iterations > 20)); then iterations=20; fi
fi

# Of a job each rank has its own table: {rank} becomes its number.
name=$build_dir/profiles/trace_${which}_$step_target
table=$name.tsv log=$name.txt
command=(env)
tables=("$table") what="$n"
if [[ -n $ranks ]]; then
  command=("$build_dir/bin/ranks" "$ranks" "$lab_root/scripts/lib/each_rank.sh")
  table="${name}_rank{rank}.tsv"
  tables=()
  for ((rank = 0; rank < ranks; ++rank)); do tables+=("${name}_rank$rank.tsv"); done
  what+=", $(many "$ranks" rank)"
fi
mkdir -p "$build_dir/profiles"
rm -f "$name"_rank*.tsv
: | tee "${tables[@]}" # rows are appended
trace_to "$table"
traced=""
if ((${#variables[@]} > 1)); then traced=", traced"; fi
say "$target, n = $what, $iterations iterations$traced:"
status=0
"${command[@]}" "${variables[@]}" "$build_dir/bin/$target" --n "$n" --iterations "$iterations" --quiet 2>"$log" || status=$?
if ((status <= 1)) && [[ ! -s ${tables[0]} ]]; then
  cat "$log" >&2
  ((!status)) || die 1 "the program failed, and there is nothing to trace"
  # Nothing loads the tracer where nothing of NVTX or CUDA is called.
  [[ -z $traced || $step_needs == cpu ]] || die 1 "the program ended, and the tracer was never loaded"
  die 1 "$step opened no NVTX range: there is nothing to trace"
fi
cat "$log"
((status <= 1)) || exit "$status"
only=()
if [[ $step_needs == cpu ]]; then only=(--ranges); fi
labtool profilers.run_tables trace "${tables[0]}" "${only[@]}" "$lab_root/$source_file"
if ((${ranks:-1} > 1)); then
  say ""
  say "That is rank 0's."
  labtool profilers.rank_ranges "${tables[@]}"
fi
say ""
say "The same as a table${ranks:+, one for each rank}: ${tables[0]#"$lab_root"/}"
