#!/usr/bin/env bash
# Measures what this GPU can do at most: copies for several array sizes and threads per block, transfers between
# host and GPU, L2 and L1, arithmetic. `make bandwidth` calls it. It takes less than a minute.
#
#   RESULTS=DIR   where bandwidth.tsv and bandwidth.svg go (default: results/local)
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../lib/lib.sh"

gpu_here || die $exit_no_gpu "there is no NVIDIA GPU here (nvidia-smi sees none)"
read_results
configure >/dev/null
cmake_found CUDA ||
  die $exit_no_gpu "no nvcc was found: the bandwidth of a GPU needs the CUDA Toolkit, and a GPU"
build_targets bandwidth || die 1 "the program does not build; the compiler's messages are above"
"$build_dir/bin/bandwidth" --results "$results"
if command -v python3 >/dev/null; then
  labtool bandwidth_plot "$results"
fi
