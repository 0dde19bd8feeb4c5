#!/usr/bin/env bash
# `make count`, `make races` and `make trace` serve a CUDA program that is not the lab's: with kernels in headers, in a
# folder with an odd name, and with what CUDA on the CPU does not cover.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need make python3
need_build
make_temp
export LAB_BUILD_DIR=$build_dir
own="$temp/it's mine"
mkdir -p "$own/inc"
own() { run make --no-print-directory -C "$source_dir" "$@"; }

cat >"$own/main.cu" <<'END'
#include <cstdio>
#include "kernel.cuh"
#include "sizes.h"
int main(int argc, char**) {
  float* field;
  cudaMallocManaged(&field, kPoints * sizeof(float));
  for (int k = 0; k < kPoints; ++k) field[k] = 1.0f;
  turn_kernel<<<kPoints / 64, 64>>>(field, argc);
  cudaDeviceSynchronize();
  std::printf("first: %g\n", field[0]);
  cudaFree(field);
}
END
cat >"$own/kernel.cuh" <<'END'
#pragma once
__global__ void turn_kernel(float* field, int arguments) {
  __shared__ float tile[64];
  const int k = blockIdx.x * 64 + threadIdx.x;
  tile[threadIdx.x] = field[k];
  if (arguments < 2) __syncthreads();
  field[k] = 2 * tile[63 - threadIdx.x];
}
END
echo 'constexpr int kPoints = 1024;' >"$own/inc/sizes.h"

own count FILE="$own/main.cu" INCLUDE="$own/inc"
expect_status 0 "count"
expect '^first: 2$' "count"
expect '^turn_kernel, launched at line 8$' "count"
expect '^ +5  global load +1024  4\.00 sectors ' "count"
expect '^ +7  shared load +1024  1\.00 passes ' "count"
own races FILE="$own/main.cu" INCLUDE="$own/inc"
expect_status 0 "races"
expect '^main.cu: no race' "races"
own races FILE="$own/main.cu" INCLUDE="$own/inc" ARGS="without barrier"
expect_status 2 "races without a barrier"
expect 'kernel\.cuh:[57]: race in shared memory: .*launched at main\.cu:8' "races without a barrier"
own trace FILE="$own/main.cu" INCLUDE="$own/inc" BACKEND=cpu
expect_status 0 "trace"
expect '^ +1  16x1x1 +64x1x1 +turn_kernel, launched at line 8$' "trace"

# What is not covered is named with its line, and is no mistake of the user's. Two files make one program.
printf 'void greet();\nint main() { greet(); }\n' >"$temp/a.cpp"
printf '#include <cstdio>\nvoid greet() { std::puts("hello"); }\n' >"$temp/b.cu"
own races FILES="$temp/a.cpp $temp/b.cu"
expect_status 0 "two files"
expect '^hello$' "two files"
printf '\n__global__ void clock_kernel(long long* t) { *t = clock64(); }\nint main() {}\n' >"$temp/clock.cu"
run env FILE="$temp/clock.cu" "$source_dir/scripts/verbs/measure/own.sh" count
expect_status 77 "not covered"
expect '/clock\.cu:2: CUDA on the CPU does not cover ' "not covered"

refuses 'which file\? Say make races FILE=path/to/mine\.cu$' own races
refuses 'none\.cu: cannot be read$' own count FILE="$temp/none.cu"
refuses 'sizes\.h: must be a \.cu' own count FILE="$own/inc/sizes.h"
own count FILE="$source_dir/exercises/04_jacobi_kernel/jacobi.cu"
said_one_line 'jacobi\.cu: a file of the lab: make count STEP=04$' "a step's file"
own races FILE="$source_dir/exercises/04_jacobi_kernel/jacobi.cu"
said_one_line 'jacobi\.cu: a file of the lab: make check STEP=04 RACES=1$' "a step's file, for races"
own trace FILE="$source_dir/exercises/clinic/strides/kernel.cu"
said_one_line 'kernel\.cu: a file of the lab: make trace CLINIC=strides$' "a file of the clinic"
refuses 'is not a folder$' own trace FILE="$own/main.cu" INCLUDE="$temp/none"
finish "count, races and trace of a program that is not the lab's"
