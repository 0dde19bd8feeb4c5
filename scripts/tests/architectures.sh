#!/usr/bin/env bash
# Which GPU architectures a build is for is decided anew at each configuration: what the user says,
# else the GPU found, else all. (CMake puts its own default into the cache; taken for the user's wish,
# the second configuration would build for another GPU than the first.)
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
[[ -n ${LAB_TEST_NVCC:-} ]] || skip "this build has no nvcc"
need cmake
make_temp
unset CUDAARCHS

# chosen [ARGUMENT...]: configures, and sets architectures to what CMake says it builds for.
chosen() {
  run cmake -S "$source_dir" -B "$temp/build" -DCMAKE_CUDA_COMPILER="$LAB_TEST_NVCC" "$@"
  expect_status 0 "configuring with ${*:-nothing}"
  architectures=$(grep -oE 'architectures [^:]*: .*' <<<"$said" | head -n 1)
}

chosen
first=$architectures
if grep -q -e -DNDEBUG "$temp/build/compile_commands.json"; then
  fail "what a step asserts should hold on the GPU as on the CPU in its place: no -DNDEBUG"
fi
# A .cu file has cuda_runtime.h anyway: its programs take the headers that are compiled once. C++ has to include it.
with_headers() { grep '"command": .*cmake_pch' "$temp/build/compile_commands.json" | grep -c "/solution_$1_[a-z_]*_cpu[a-z_]*\.dir/"; }
[[ $(with_headers 04) == 2 ]] || fail "step 04 should have its headers compiled once for both of its programs"
[[ $(with_headers 02) == 0 ]] || fail "step 02, which is C++, should have no header that it does not include"
chosen
[[ $architectures == "$first" ]] || fail "configured twice: '$first', then '$architectures'"
export CUDAARCHS=80
chosen
[[ $architectures == "architectures 80: as CUDAARCHS says" ]] || fail "CUDAARCHS=80: $architectures"
export CUDAARCHS=86
chosen
[[ $architectures == "architectures 86: as CUDAARCHS says" ]] || fail "CUDAARCHS=86 after 80: $architectures"
unset CUDAARCHS
chosen
[[ $architectures == "$first" ]] || fail "without CUDAARCHS again: '$architectures', not '$first'"
chosen -DCMAKE_CUDA_ARCHITECTURES=90
[[ $architectures == "architectures 90: as asked for" ]] || fail "asked for 90: $architectures"

finish "the architectures are chosen anew at each configuration"
