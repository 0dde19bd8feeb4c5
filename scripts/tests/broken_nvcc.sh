#!/usr/bin/env bash
# An nvcc that does not run (a wrapper whose toolkit is gone) counts as none: the CPU steps are still
# configured, and only who asks for CUDA gets an error.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need cmake
make_temp
mkdir "$temp/bin"
printf '#!/bin/sh\nexec /nowhere/bin/nvcc "$@"\n' >"$temp/bin/nvcc"
chmod +x "$temp/bin/nvcc"

run cmake -S "$source_dir" -B "$temp/build" -DCMAKE_CUDA_COMPILER="$temp/bin/nvcc"
expect_status 0 "a broken nvcc"
expect 'nvcc does not run' "a broken nvcc"
expect 'No CUDA Toolkit' "a broken nvcc"
grep -qx solution_01_nvtx "$temp/build/step_targets.txt" || fail "step 01 is not built"
grep -qx solution_04_jacobi_kernel_cpu "$temp/build/step_targets.txt" || fail "step 04 is not built for the CPU"
if grep -qx solution_04_jacobi_kernel "$temp/build/step_targets.txt"; then
  fail "step 04 is built for a GPU without nvcc"
fi

run cmake -S "$source_dir" -B "$temp/wanted" -DLAB_CUDA=ON -DCMAKE_CUDA_COMPILER="$temp/bin/nvcc"
expect_status 1 "CUDA asked for, and a broken nvcc"
expect 'no nvcc that runs was found' "CUDA asked for, and a broken nvcc"

finish "an nvcc that does not run counts as none"
