#!/usr/bin/env bash
# What `make check` says on a machine with a GPU, beside which the CPU looks at every access: of a step that is
# right, of a race that does the GPU no harm, of a crash whose line only the CPU knows, and where the CPU cannot
# look. Here the step's program for the CPU stands in for the GPU's.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_build
step=08_cub_reduction
source_file=solutions/$step/jacobi.cu
need prlimit
for file in "$build_dir"/bin/{validate,goals,solution_${step}_cpu,solution_${step}_cpu_watched} "$source_dir/$source_file"; do
  [[ -f $file ]] || skip "$file is not there"
done
make_temp
build=$temp/build
mkdir -p "$build/bin" "$temp/stubs"
printf '%s\n' "solution_$step" "solution_${step}_cpu" "solution_${step}_cpu_watched" >"$build/step_targets.txt"
ln -s "$build_dir"/bin/{validate,goals} "$build/bin/"
on_gpu=$build/bin/solution_$step looks=$build/bin/solution_${step}_cpu_watched

# A cmake that finds everything built, and fails where $CANNOT_BUILD is among what is to be built.
stub() {
  printf '#!/usr/bin/env bash\n%s\n' "$2" >"$1"
  chmod +x "$1"
}
# shellcheck disable=SC2016  # it is the stub's
stub "$temp/stubs/cmake" 'if [[ -n ${CANNOT_BUILD:-} && " $* " =~ \ (check_[^\ ]*|$CANNOT_BUILD)\  ]]; then echo "no" >&2; exit 1; fi
if [[ -n ${BUILD_ENDS_BY:-} && " $* " == *" check_solution_"* ]]; then
  if ((AFTER_CPU)); then touch "$LAB_BUILD_DIR/content/solution_08_cub_reduction.beside" && sleep 3; fi
  beside=$(ps -o ppid= "$PPID") # the shell of the build
  $BUILD_ENDS_BY ${beside// /} && exit 1
fi
if [[ ${1:-} == --version ]]; then echo "cmake version 3.99.0"; fi
if [[ -n ${NVCC_SECONDS:-} && " $* " == *" check_solution_"* ]]; then
  touch "$LAB_BUILD_DIR/content/solution_08_cub_reduction.beside"
  sleep "$NVCC_SECONDS"
  cp "$NVCC_MAKES" "$LAB_BUILD_DIR/bin/solution_08_cub_reduction"
fi'
stub "$temp/right" "exec '$build_dir/bin/solution_${step}_cpu' \"\$@\""

# reports KIND LINE ACCESS WORDS: what a program does that reports this (the columns of cuda_on_cpu/report.h).
reports() {
  printf "printf '%%s\\n' '%s' >>\"\$LAB_REPORT\"" "$1"$'\t'"$source_file"$'\t'"$2"$'\t'"$3"$'\t\tinside\t0\t35\t40000\t\t\t\t0\t\t\t\t\t'"$4"
}

# given ON_GPU LOOKS: what the two programs are.
given() {
  cp "$1" "$on_gpu"
  cp "$2" "$looks"
}
# check CODE WHAT [VARIABLE=VALUE...]: make check, whose script must exit with CODE.
check() {
  run env PATH="$temp/stubs:$PATH" LAB_BUILD_DIR="$build" STEP=08 WHICH=solution BACKEND=gpu N=100 "${@:3}" \
    "$source_dir/scripts/verbs/check.sh"
  expect_status "$1" "$2"
}
clean='^  No race, no access out of bounds, no read of memory that nothing wrote\.$'

given "$temp/right" "$build_dir/bin/solution_${step}_cpu_watched"
check 0 "right on both"
expect "^$step: right: 4 runs, n = 100" "right on both"
expect "$clean" "right on both"

race="$source_file:72: race in global memory: thread (0,0,0) writes what thread (0,0,0) of block (3,0,0) changed"
stub "$temp/race" "echo 'x: $race atomically at line 96, with no order in between' >&2; exit 3"
given "$temp/right" "$temp/race"
check 1 "a race that does no harm"
expect "^$step: wrong: probe, n = 100, 3 iterations$" "a race that does no harm"
expect ":72: race in$" "a race that does no harm"
expect "^  The GPU was right by luck: the CPU, which looks at every access, finds this\.$" "a race that does no harm"
expect_no "$clean" "a race that does no harm"

host="$source_file:51: host code writes byte 0 of the 40000 bytes that cudaMalloc gave at line 35"
stub "$temp/host" "$(reports host_early 51 writes "$host")
echo 'x: $host' >&2; exit 3"
# shellcheck disable=SC2016  # it is the stub's
stub "$temp/crash" 'kill -SEGV $$'
given "$temp/crash" "$temp/host"
check 1 "a crash"
expect "^  it crashed: SIGSEGV" "a crash"
expect "^  A look at every access finds:$" "a crash"
expect ":51: host code writes byte 0 of the$" "a crash"

# What the CPU cannot run may be right.
given "$temp/right" "$temp/race"
CANNOT_BUILD=solution_${step}_cpu_watched check 0 "a program that does not compile for the CPU"
expect "^$step: right: 4 runs, n = 100" "a program that does not compile for the CPU"
expect_no "$clean" "a program that does not compile for the CPU"
rm "$looks"
check 0 "a program that the CPU does not have"
expect_no "$clean" "a program that the CPU does not have"

# What the CPU says does not wait for nvcc, and nothing of nvcc is left. Nor is what nvcc made before judged.
mkdir "$build/lab" "$build/content"
touch "$build/lab/liblab.a"
given "$temp/race" "$build_dir/bin/solution_${step}_cpu_watched"
stub "$build/bin/solution_${step}_cpu" 'exit 3'
began=$SECONDS
check 1 "wrong on the CPU while nvcc compiles" N= NVCC_SECONDS=301 NVCC_MAKES="$temp/right"
expect "^$step: wrong: probe, n = 100" "wrong on the CPU while nvcc compiles"
((SECONDS - began < 200)) || fail "it waited for nvcc"
if pgrep -f '^sleep 301$' >/dev/null; then fail "nvcc is still there"; fi
ln -sf "$build_dir/bin/solution_${step}_cpu" "$build/bin/"
check 0 "right once nvcc has compiled it" N= NVCC_SECONDS=3 NVCC_MAKES="$temp/right"
expect "^$step: right: .* fields bit for bit" "right once nvcc has compiled it"
expect "^ +Goal reached: at most one atomic addition per block$" "right once nvcc has compiled it"

# A build that can say nothing more: its disk is full, or its shell was killed.
check 1 "a disk that is full" N= BUILD_ENDS_BY="prlimit --fsize=0 --pid" AFTER_CPU=1 timeout 60
expect "^check.sh: the build failed, and a second one did not: check again$" "a disk that is full"
check 1 "a build whose shell is killed" N= BUILD_ENDS_BY="kill -9" AFTER_CPU=0 timeout 60
expect "^check.sh: the build was ended before it was done: check again$" "a build whose shell is killed"

finish "the check on a GPU, and the CPU's look beside it"
