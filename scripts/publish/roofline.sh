#!/usr/bin/env bash
# Counts time, flops and bytes of every step's kernels, for the roofline. `make roofline` calls it.
#
#   RESULTS=DIR   where roofline.tsv, kernels.tsv and roofline.svg go, and where
#                 bandwidth.tsv stands, or is measured first (default: results/local)
#   STEPS=NN,NN   only these steps; what stands there of others stays
set -euo pipefail
# shellcheck source=scripts/lib/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib/lib.sh"

only_help "$@"
[[ -d $lab_root/solutions ]] ||
  die $exit_bad_usage "a handout has no solutions to count; make ncu STEP=NN counts your exercise"
command -v python3 >/dev/null || die $exit_no_gpu "python3 is missing"
read_step_list

gpu_here || die $exit_no_gpu "there is no NVIDIA GPU here (nvidia-smi sees none)"
read_results
configure >/dev/null
grep -q '^-- CUDA ' "$build_dir/configure.log" || die $exit_no_gpu "no nvcc was found: the steps cannot be built for a GPU"
build_targets solutions bandwidth lab_trace || die 1 "the build failed; the compiler's words stand above"
if [[ ! -f $results/bandwidth.tsv ]]; then "$build_dir/bin/bandwidth" --ceilings --results "$results"; fi
"$lab_root/scripts/publish/roofline.py" --write "$results" --build "$build_dir" --steps "${STEPS:-}"
