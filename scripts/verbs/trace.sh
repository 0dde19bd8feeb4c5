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
source "$(dirname "${BASH_SOURCE[0]}")/../lib/lib.sh"

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

mkdir -p "$build_dir/profiles"
# Of a job each rank has its own: {rank} becomes its number.
name=$build_dir/profiles/trace_${which}_$step_target
table=$name.tsv log=$name.txt
rm -f "$name".{tsv,txt} "$name"_rank*.tsv
command=(env)
tables=("$table") what="$n"
if [[ -n $ranks ]]; then
  command=("$build_dir/bin/ranks" "$ranks" "$lab_root/scripts/lib/each_rank.sh")
  table="${name}_rank{rank}.tsv"
  tables=()
  for ((rank = 0; rank < ranks; ++rank)); do tables+=("${name}_rank$rank.tsv"); done
  what+=", $(many "$ranks" rank)"
fi
program=("$build_dir/bin/$target" --n "$n" --iterations "$iterations" --quiet)
status=0
if grep -q '^-- CUDA ' "$build_dir/configure.log" && [[ $backend == gpu ]]; then
  build_targets lab_trace || die 1 "the tracer does not build; the compiler's messages are above"
  library=$build_dir/lib/liblab_trace.so
  say "$target, n = $what, $iterations iterations, traced:"
  "${command[@]}" CUDA_INJECTION64_PATH="$library" NVTX_INJECTION64_PATH="$library" LAB_TRACE_TSV="$table" \
    "${program[@]}" 2>"$log" || status=$?
  if ((status <= 1)) && [[ ! -f ${tables[0]} ]]; then
    cat "$log" >&2
    # Nothing loads the tracer where nothing of NVTX or CUDA is called.
    if ((status == 0)) && [[ $step_needs == cpu ]]; then die 1 "$step opened no NVTX range: there is nothing to trace"; fi
    if ((status)); then die 1 "the program failed, and there is nothing to trace"; fi
    die 1 "the program ended, and the tracer was never loaded"
  fi
else
  # The lab's own NVTX, if there is no toolkit or no GPU. What the program asked of its GPU is appended.
  say "$target, n = $what, $iterations iterations:"
  : | tee "${tables[@]}"
  "${command[@]}" LAB_TRACE_TSV="$table" "${program[@]}" 2>"$log" || status=$?
  if ((status <= 1)) && [[ -z ${CLINIC:-} ]] && ! grep -qE '^(nvtx|open)' "${tables[0]}"; then
    if ((status == 0)); then die 1 "$step opened no NVTX range: there is nothing to trace"; fi
    cat "$log" >&2
    die 1 "the program failed, and there is nothing to trace"
  fi
fi
cat "$log"
((status <= 1)) || exit "$status"
only=()
if [[ $step_needs == cpu ]]; then only=(--ranges); fi
labtool run_tables trace "${tables[0]}" "${only[@]}" "$lab_root/$source_file"
if ((${ranks:-1} > 1)); then
  say ""
  say "That is rank 0's."
  labtool rank_ranges "${tables[@]}"
fi
if [[ -f ${tables[0]} ]]; then
  say ""
  say "The same as a table${ranks:+, one for each rank}: ${tables[0]#"$lab_root"/}"
fi
