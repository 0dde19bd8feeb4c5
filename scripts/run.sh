#!/usr/bin/env bash
# Builds every solution, validates it, times it, and prints the ladder. `make run` calls it.
#
#   RESULTS=DIR   where ladder.tsv goes (default: results/local)
#   STEPS=NN,NN   only these steps
#   BACKEND=cpu   the CPU runs the kernels, though there is a GPU (results, no times)
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[[ -d $lab_root/solutions ]] ||
  die $exit_bad_usage "a handout has no solutions to time; make progress TIME=1 times your exercises"

# In place of results/local, which git ignores; results/h200 and its like are what was published.
results=${RESULTS:-$lab_root/results/local}
arguments=(--results "$results")
if [[ -n ${STEPS:-} ]]; then
  for wanted in ${STEPS//,/ }; do step_line "$wanted" >/dev/null; done
  arguments+=(--steps "$STEPS")
fi

configure
choose_backend >/dev/null # the ladder says which
[[ -t 1 ]] || say "building ..."
targets=(validate ladder)
if [[ $backend == gpu ]]; then
  targets+=(solutions bandwidth)
else
  # No GPU: of the programs that need one, those for the CPU.
  while IFS=$'\t' read -r step _ needs _; do
    if [[ $needs == cpu && -d $lab_root/solutions/$step ]]; then targets+=("solution_$step"); fi
  done < <(grep '^[0-9]' "$steps_file")
  targets+=(solutions_on_cpu)
fi
build_targets "${targets[@]}" || die 1 "the build failed; the compiler's words stand above"
exec "$build_dir/bin/ladder" "${arguments[@]}"
