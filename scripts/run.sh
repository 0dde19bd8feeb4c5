#!/usr/bin/env bash
# Builds every solution, validates it, times it, and prints the ladder. `make run` calls it.
#
#   RESULTS=DIR   where ladder.tsv goes (default: results/local)
#   STEPS=NN,NN   only these steps
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# In place of results/local, which git ignores; results/h200 and its like are what was published.
results=${RESULTS:-$lab_root/results/local}
arguments=(--results "$results")
if [[ -n ${STEPS:-} ]]; then
  for wanted in ${STEPS//,/ }; do step_line "$wanted" >/dev/null; done
  arguments+=(--steps "$STEPS")
fi

configure
[[ -t 1 ]] || say "building ..."
targets=(solutions validate ladder)
if grep -q '^-- CUDA ' "$build_dir/configure.log"; then targets+=(bandwidth); fi
build_targets "${targets[@]}" || die 1 "the build failed; the compiler's words stand above"
exec "$build_dir/bin/ladder" "${arguments[@]}"
