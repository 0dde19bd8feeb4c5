#!/usr/bin/env bash
# Counts time, flops and bytes of kernels, and draws them below this GPU's achievable peak rates. `make roofline` calls it.
#
#   STEP=NN                    one step's kernels; without it, those of every solution
#   WHICH=exercise|solution    which of the two (default: exercise)
#   RESULTS=DIR                where kernels.tsv and roofline.svg go, and where bandwidth.tsv stands, or is measured
#                              first (default: results/local)
#   STEPS=NN,NN                these solutions only; what stands there of others stays
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../lib/lib.sh"

which=solution targets=(solutions)
if [[ -n ${STEP:-} ]]; then
  [[ -z ${STEPS:-} ]] || die $exit_bad_usage "STEP=$STEP and STEPS=$STEPS: one of the two"
  read_step "$STEP"
  read_which
  [[ $step_source == *.cu ]] || die $exit_bad_usage "STEP=$STEP: $step has no kernels"
  ((!step_ranks)) || die $exit_bad_usage "STEP=$STEP: $step is a job of several ranks, which are not counted"
  ((10#$step_number < 16)) ||
    die $exit_bad_usage "STEP=$STEP: its cycles run on grids of many sizes; make ncu STEP=$STEP counts a kernel of the finest"
  need_source
  STEPS=$step_number targets=("${which}_$step")
else
  [[ -z ${WHICH:-} ]] || die $exit_bad_usage "WHICH=$WHICH: which step? Also say STEP=NN"
  [[ -d $lab_root/solutions ]] ||
    die $exit_bad_usage "a handout has no solutions to count; make roofline STEP=NN counts your exercise"
fi
need_python
read_step_list

gpu_here || die $exit_no_gpu "there is no NVIDIA GPU here (nvidia-smi sees none)"
read_results
configure >/dev/null
cmake_found CUDA || die $exit_no_gpu "no nvcc was found: the steps cannot be built for a GPU"
build_targets "${targets[@]}" bandwidth lab_trace || die 1 "the build failed; the compiler's words stand above"
if [[ ! -f $results/bandwidth.tsv ]]; then "$build_dir/bin/bandwidth" --results "$results"; fi
labtool roofline --write "$results" --steps "$(IFS=, && echo "${step_list[*]}")" --which "$which"
