#!/usr/bin/env bash
# What a learner is told: `make check` on an exercise in every state that it can be in, in a copy of the lab whose path has a
# blank, a quote, a comma and a dollar sign in it, without the CUDA Toolkit.
#
#   check_verdicts.sh make   the same words from a build by make, which is what a machine without ninja gets
#   check_verdicts.sh nvcc   what a plain compiler takes and nvcc refuses
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need make cmake
make_temp
lab="$temp/it's the lab, 5\$" # a name that shells and build tools may stumble over
use_built

copy_tree "$lab"
step=$(awk '/^01_/ { print $1 }' "$lab/lab/steps.tsv")
before=$(awk '/^00_/ { print $1 }' "$lab/lab/steps.tsv")
exercise=exercises/$step/jacobi.cpp
solution=solutions/$step/jacobi.cpp
[[ -f $lab/$solution ]] || skip "there are no solutions here to begin with"
# The exercise as it was handed out, even where this tree is a learner's.
if in_git && grep -qxF "$exercise" < <(edited_exercises); then
  for file in "$exercise" "$solution" "solutions/$before/jacobi.cpp"; do
    git -C "$source_dir" show "HEAD:$file" >"$lab/$file"
  done
fi
cp "$lab/$exercise" "$temp/untouched.cpp"

# make_lab ARGUMENT...: make, from a folder that has nothing to do with the lab.
make_lab() { (cd / && make --no-print-directory -C "$lab" "$@"); }

# check CODE WHAT [VARIABLE=VALUE...]: runs `make check`, whose script must exit with CODE. make itself
# exits with 2 then, and names the code.
check() {
  local code=$1 what=$2
  shift 2
  run make_lab check "$@"
  if ((code == 0)); then
    expect_status 0 "$what"
  else
    expect_status 2 "$what"
    expect "^make: \*\*\* .*check\] Error $code\$" "$what"
  fi
}

# given FILE [SED-SCRIPT]: FILE, edited, becomes the exercise.
given() {
  sed "${2:-}" "$1" >"$lab/$exercise"
  if (($# > 1)) && cmp -s "$1" "$lab/$exercise"; then fail "the case '$2' changes nothing"; fi
}
given_bug() { given "$lab/$solution" "$1"; }

test_verdicts() {
  local line

  check 1 untouched STEP=01
  expect "^$step: unchanged$" untouched
  expect "Look for TODO\(01\) in $exercise" untouched

  given "$temp/untouched.cpp" '/TODO(01)/d; /^ *\/\/   /d'
  if grep -q TODO "$lab/$exercise"; then fail "the case 'TODO comments deleted' leaves some"; fi
  check 1 "the TODO comments deleted" STEP=01
  expect "^$step: unchanged$" "the TODO comments deleted"
  expect '^  Look for the task in its guide' "the TODO comments deleted"

  given "$temp/untouched.cpp" 's/double sum = 0\.0;/double  sum=0.0; \/\/ begin with nothing/'
  check 1 "blanks and a comment changed" STEP=01
  expect "^$step: unchanged$" "blanks and a comment changed"

  given "$lab/$solution"
  check 0 "the solution" STEP=01
  expect "^$step: right: [0-9]+ runs, n = 33, 100, 129, 130, 250, 256, 1024, 1043;" "the solution"
  expect "^$step: done$" "the solution"
  expect "^  Next: run .*" "the solution"

  given_bug '/nvtxRangePop/d'
  check 1 "ranges that are never closed" STEP=01
  expect "^$step: right: " "ranges that are never closed"
  expect "^  Goal MISSED: every range that is opened is closed$" "ranges that are never closed"
  expect "^$step: right, but the step's goal is not reached$" "ranges that are never closed"
  expect '^  Next: what is MISSED above\. For a hint: make hint STEP=01$' "ranges that are never closed"
  given_bug 's/^  nvtxRangePush(.*/&\n  nvtxRangePop();/; /^  nvtxRangePop();$/d'
  check 1 "ranges around nothing" STEP=01
  expect 'copy_field$' "ranges around nothing"
  expect 'jacobi_sweep covers 0\.[0-9]+ % of an( iteration)?$' "ranges around nothing"
  given_bug '/^void copy_field/,/^}/{s/^  nvtxRangePush(.*/&\n  nvtxRangePop();/; /^  nvtxRangePop();$/d}'
  check 1 "one range around nothing" STEP=01
  expect ', 7 times each; copy_field$' "one range around nothing"
  expect_no 'jacobi_sweep covers' "one range around nothing"
  check 0 "a short look asks for no goal" STEP=01 N=33
  expect "^  A short look: without N=33 the check also measures the step's goal\.$" "a short look asks for no goal"
  given "$lab/$solution"

  check 0 "the solution, told by its number and at another size" STEP=1 N=33
  expect "^$step: right: [0-9]+ runs, n = 33;" "STEP=1 N=33"
  check 0 "the solution, told by its name" STEP="$step" N=3
  expect "^$step: right: [0-9]+ runs, n = 3;" "STEP=$step N=3"

  given_bug 's/double sum = 0\.0;/double sum = 0.0/'
  check 1 "a syntax error" STEP=01
  line=$(grep -n 'double sum = 0\.0' "$lab/$exercise" | cut -d : -f 1)
  # The error is shown at that line, or at the next word; the path is the one that the learner knows.
  expect "^$exercise:($line|$((line + 1))):[0-9]+: error:" "a syntax error"
  expect "^$step: does not compile; begin with the first error above$" "a syntax error"
  grep -q "^$exercise:" <<<"${out%%$'\n'*}" ||
    show "a syntax error: the compiler's words should come first, not the build tool's"
  expect_no "$temp" "a syntax error"
  run make_lab run STEP=01 WHICH=exercise
  expect_status 2 "make run, a syntax error"
  grep -q "^$exercise:" <<<"${err%%$'\n'*}" ||
    show "make run, a syntax error: the compiler's words should come first, not the build tool's"
  expect "^run.sh: $exercise does not compile" "make run, a syntax error"
  expect_no "$temp" "make run, a syntax error"

  given_bug 's/^int main/void not_there();\n&/; s/^  const int n = options.n;/&\n  not_there();/'
  check 1 "a function that is not there" STEP=01
  expect "undefined reference to .not_there" "a function that is not there"
  expect "^$step: does not link: what is named above is declared or called," "a function that is not there"

  given_bug '/#include <nvtx3/d'
  check 1 "a header that is forgotten" STEP=01
  expect '^  This line is missing: #include <nvtx3/nvToolsExt\.h>$' "a header that is forgotten"

  # A name that is misspelt lacks no header; and of an error in a template its place comes first, and where it is used.
  given_bug '0,/nvtxRangePop/s//nvtxRangePopp/; s/^int main/template <class T> void f(T x) { x.none(); }\n&/; s/^  const int n = options.n;/&\n  f(1);/'
  check 1 "a misspelt name, and a template" STEP=01
  expect_no 'This line is missing' "a misspelt name"
  expect "^$exercise:[0-9]+:[0-9]+: error: request for member ('|‘)none" "an error in a template"
  expect '   required from here$' "an error in a template"
  expect_no 'In instantiation of' "an error in a template"

  given_bug "s/^  const int n = options.n;/&\\n  int forgotten$(printf ', forgotten_%d' {1..21});/"
  check 0 "22 warnings" STEP=01 N=33
  expect "^$exercise:[0-9]+:[0-9]+: warning: unused variable [^ ]*forgotten" "22 warnings"
  expect "^2 more warnings: .*check_exercise_.*\\.log$" "22 warnings"
  expect "^$step: right" "22 warnings"

  given_bug 's/double sum = 0\.0;/static double sum = 0.0;/'
  check 1 "a sum that is not reset" STEP=01
  expect "^$step: wrong: probe, n = 100" "a sum that is not reset"
  expect '^  the field is right$' "a sum that is not reset"
  expect '^  the residual is wrong from iteration 2 on: ' "a sum that is not reset"

  # What stands in the file is judged, whatever its date.
  given "$lab/$solution"
  check 0 "before a file of an older date" STEP=01 N=33
  given_bug 's/0\.25f/0.24f/'
  touch -d 2020-01-01 "$lab/$exercise"
  check 1 "a file of an older date" STEP=01 N=33
  expect "^$step: wrong: " "a file of an older date"
  given "$lab/$solution"
  touch -d 2019-01-01 "$lab/$exercise"
  check 0 "a file that is still older" STEP=01 N=33

  # The machine's limits are no mistake of the learner's.
  # shellcheck disable=SC2016
  run bash -c 'ulimit -f 1000; make --no-print-directory -C "$1" check STEP=01' _ "$lab"
  expect_status 2 "a limit on the size of files"
  expect "^$step: cannot run here$" "a limit on the size of files"
  expect '^  a file may have 1.02 MB here \(ulimit -f\)$' "a limit on the size of files"
  expect_no 'diagnosis' "a limit on the size of files"

  given_bug 's/^  while (.*/  for (;;) {/'
  SECONDS=0
  check 1 "an endless loop" STEP=01 TIME_LIMIT=2
  expect "^$step: wrong: " "an endless loop"
  expect 'it did not end within 2 s' "an endless loop"
  ((SECONDS < $(patience 30))) || fail "an endless loop: it took $SECONDS s to end after a time limit of 2 s"

  rm "$lab/$exercise"
  check 2 "no exercise" STEP=01
  expect "$exercise is not there" "no exercise"
  : >"$lab/$exercise"
  check 2 "an empty exercise" STEP=01
  expect "$exercise is empty \(make reset STEP=01 puts it back\)\$" "an empty exercise"
  cp "$(type -P true)" "$lab/$exercise"
  check 2 "a program as an exercise" STEP=01
  expect "$exercise is not a text \(make reset STEP=01 puts it back\)\$" "a program as an exercise"
  cp "$temp/untouched.cpp" "$lab/$exercise"

  # What is left to delete, by its line.
  { echo '// TODO(01): one'; cat "$lab/$solution"; } >"$lab/$exercise"
  check 0 "a TODO left" STEP=01
  expect "^$step: right so far, and its goals are reached\$" "a TODO left"
  expect_no "^$step: done" "a TODO left"
  expect "^  TODO\(01\) is still there, line 1 of $exercise: " "a TODO left"
  { echo '// TODO(01): one'; cat "$lab/$solution"; echo '// TODO(01): two'; } >"$lab/$exercise"
  check 0 "two TODOs left" STEP=01
  expect "^  TODO\(01\) is still there, lines 1 and [0-9]+ of" "two TODOs left"
  cp "$temp/untouched.cpp" "$lab/$exercise"

  # Right, and one call that nobody checks; and where there is no GPU, no times to compare with.
  second=exercises/02_unified_memory/jacobi.cpp
  cp "$lab/$second" "$temp/second.cpp"
  cp "$lab/solutions/02_unified_memory/jacobi.cpp" "$lab/$second"
  check 0 "step 02, every call checked" STEP=02
  expect_no 'Your code does not check' "step 02, every call checked"
  expect '^ +(an H200.s: )?make guide STEP=02 SHOW=predictions' "step 02, without a GPU: the command is not broken"
  sed -i 's/CUDA_CHECK(cudaFree(f_old));/cudaFree(f_old);/; /require_gpu_memory/d; s/std::size_t(i) \* n/i * n/' \
    "$lab/$second"
  line=$(grep -n '^  cudaFree(f_old);' "$lab/$second" | cut -d : -f 1)
  check 0 "step 02, a call that is not checked" STEP=02
  expect "^  Your code does not check: cudaFree at line $line; whether the fields fit" "step 02, a call that is not checked"
  expect '^  Right up to n = 46340\. ' "step 02, an index of ints"
  cp "$temp/second.cpp" "$lab/$second"

  check 0 "the first step, which has no task" STEP=00 N=33
  expect "^$before: right" "the first step"
  check 0 "a solution" STEP=01 N=33 WHICH=solution
  expect "^$step: right" "a solution"

  check 1 "a step with kernels, untouched, without the toolkit" STEP=04
  expect '^No nvcc here: the CPU runs the kernels instead of a GPU' "a step with kernels"
  expect '^04_[a-z_]+: unchanged$' "a step with kernels"
  local kernel=exercises/04_jacobi_kernel/jacobi.cu solved=solutions/04_jacobi_kernel/jacobi.cu
  sed 's/<<<grid, block>>>/<<<grid, block, cudaStream_t()>>>/' "$lab/$solved" >"$lab/$kernel"
  check 1 "a stream as the third of a launch" STEP=04
  expect '^  A stream is the fourth between <<< and >>>' "a stream as the third of a launch"
  sed 's/^    const double change = /    __shfl_up(value, 1);\n&/' "$lab/$solved" >"$lab/$kernel"
  check 1 "a shuffle without a mask, which nvcc refuses" STEP=04
  expect '^04_jacobi_kernel: does not compile' "a shuffle without a mask"
  sed 's/kDefaultN = [0-9]*/kDefaultN = 65536/; s/std::size_t(i) \* n/i * n/' "$lab/$solved" >"$lab/$kernel"
  check 1 "an index of ints, and a larger n" STEP=04
  expect '^04_jacobi_kernel: wrong: at its own n = 65536, and right up to 46340$' "an index of ints, and a larger n"
  check 77 "a step with kernels, on a GPU" STEP=04 BACKEND=gpu
  expect '^04_[a-z_]+: cannot be built here for a GPU: no nvcc was found$' "a step with kernels, BACKEND=gpu"
  run make_lab run STEP=04 WHICH=exercise ARGS='--n 64 --iterations 2'
  expect_status 0 "make run, a step with kernels"
  expect '^  the CPU, instead of a GPU$' "make run, a step with kernels"
  narrow "make run, a step with kernels"
}

test_with_make() {
  # In the folder that the verbs use when they are told of none.
  unset LAB_BUILD_DIR
  # shellcheck disable=SC2086  # it is words
  run cmake -G "Unix Makefiles" -S "$lab" -B "$lab/build" $LAB_CMAKE_ARGS
  expect_status 0 "configuring for make"

  cp "$temp/untouched.cpp" "$lab/$exercise"
  check 1 "untouched, built by make" STEP=01
  expect "^$step: unchanged$" "untouched, built by make"
  given_bug 's/double sum = 0\.0;/double sum = 0.0/'
  check 1 "a syntax error, built by make" STEP=01
  expect "^$exercise:[0-9]+:[0-9]+: error:" "a syntax error, built by make"
  expect "^$step: does not compile" "a syntax error, built by make"
  grep -q "^$exercise:" <<<"${out%%$'\n'*}" ||
    show "a syntax error, built by make: the compiler's words should come first"
  expect_no "$temp" "a syntax error, built by make"
  given "$lab/$solution"
  check 0 "the solution, built by make" STEP=01 N=33
  expect "^$step: right" "the solution, built by make"
  check 0 "a step with kernels, built by make" STEP=04 WHICH=solution
  expect '^04_[a-z_]+: right: ' "a step with kernels, built by make"
  expect '^  No race, no access out of bounds, ' "a step with kernels, built by make"

  # What never ends is asked where it is.
  local kernel=exercises/04_jacobi_kernel/jacobi.cu
  sed 's/^    const double change = .*/&\n    for (int k = 0; k < n; k += threadIdx.y) atomicAdd(sum, 0.0);/' \
    "$lab/solutions/04_jacobi_kernel/jacobi.cu" >"$lab/$kernel"
  check 1 "an endless kernel" STEP=04 TIME_LIMIT=3
  line=$(grep -n 'atomicAdd(sum, 0' "$lab/$kernel")
  expect "^  diagnosis: a loop of the kernel around line ${line%%:*} never ends" "an endless kernel"
  expect "^  .* $kernel:${line%%:*}: still runs here, for [1-9][0-9]* s" "an endless kernel"
  sed 's/^  while (.*/  for (;;) {/' "$lab/solutions/04_jacobi_kernel/jacobi.cu" >"$lab/$kernel"
  check 1 "an endless loop around kernels" STEP=04 TIME_LIMIT=3
  expect '^  diagnosis: (the loop that launches the kernel of line [0-9]+|a loop of the host around line [0-9]+) never ends' \
    "an endless loop around kernels"

  # A start that the small levels lose is seen on a small grid alone.
  sed 's/(levels, k, k == top);$/(levels, k, k == 0);/' "$lab/solutions/16_multigrid/jacobi.cu" >"$lab/exercises/16_multigrid/jacobi.cu"
  check 1 "a start without the small levels" STEP=16
  expect '^  Goal MISSED: the first cycle begins with what the coarser levels found$' "a start without the small levels"

  # The rest waits for the ends of its own pass: both waits come too late. (Without MPI there is no such program.)
  if ! grep -q '^exercise_15_overlap_cpu$' "$lab/build/step_targets.txt"; then return; fi
  sed '/WaitEvent(streams.rest, streams.ends_done/d
    s/^ *CUDA_CHECK(cudaEventRecord(streams.ends_done, streams.ends));$/&\n    CUDA_CHECK(cudaStreamWaitEvent(streams.rest, streams.ends_done, 0));/' \
    "$lab/solutions/15_overlap/jacobi.cu" >"$lab/exercises/15_overlap/jacobi.cu"
  check 1 "a rest that waits for its own ends" STEP=15 RANKS=2
  expect '^  Goal MISSED: the rest need not wait for the ends of its own pass$' "a rest that waits for its own ends"
}

test_nvcc() {
  local kernel=exercises/04_jacobi_kernel/jacobi.cu
  [[ -n ${LAB_TEST_NVCC:-} ]] || skip "this build has no nvcc"
  export LAB_CMAKE_ARGS="${LAB_CMAKE_ARGS/-DLAB_CUDA=OFF/-DCMAKE_CUDA_ARCHITECTURES=90}"
  sed 's/__host__ __device__ inline/inline/' "$lab/solutions/04_jacobi_kernel/jacobi.cu" >"$lab/$kernel"
  check 1 "a kernel that calls a function of the host" STEP=04 BACKEND=cpu
  expect "^$kernel\([0-9]+\): error: " "a kernel that calls a function of the host"
  expect '^04_jacobi_kernel: nvcc refuses it; begin with the first error above$' \
    "a kernel that calls a function of the host"
  expect '^  idx is only for the CPU: write __host__ __device__ before it \(line [0-9]+\)\.$' "a kernel that calls a function of the host"
  expect_no "^$|.{81}" "a kernel that calls a function of the host"

  sed 's/__host__ __device__ inline/__device__ inline/' "$lab/solutions/04_jacobi_kernel/jacobi.cu" >"$lab/$kernel"
  check 1 "host code that calls a function of the device" STEP=04 BACKEND=cpu
  expect "^$kernel:[0-9]+: error: host code calls idx, which is __device__ alone" "host code that calls a function of the device"
  expect '^04_jacobi_kernel: does not compile; begin with the first error above$' "host code that calls a function of the device"

  sed 's/double\* sum, int n) {/double* sum, const int\& n) {/' "$lab/solutions/04_jacobi_kernel/jacobi.cu" >"$lab/$kernel"
  check 1 "a kernel's parameter that refers to the host" STEP=04 BACKEND=cpu
  expect ' is a reference, which leads a kernel to the host.s memory: give it by value$' "a kernel's parameter that refers to the host"

  sed 's/^    const double change = /    __shfl_down(1, 1);\n&/' "$lab/solutions/04_jacobi_kernel/jacobi.cu" >"$lab/$kernel"
  check 1 "a shuffle without a mask" STEP=04 BACKEND=cpu
  expect "^$kernel:[0-9]+: error: .*as nvcc does not" "a shuffle without a mask"

  sed 's/^    const double change = /    __shared__ double tile[7000];\n    tile[threadIdx.x] = n;\n&/' \
    "$lab/solutions/04_jacobi_kernel/jacobi.cu" >"$lab/$kernel"
  check 1 "too much shared memory" STEP=04 BACKEND=cpu
  expect 'a kernel has at most 48 KiB of static shared memory' "too much shared memory"
  expect '^04_jacobi_kernel: does not compile; begin with the first error above$' "too much shared memory"

  # An nvcc that stops to work is not the learner's mistake. (What the solution may not use either, it refuses, too.)
  printf '#!/bin/sh\ncase " $* " in *" -ptx "* | *" -cubin "*) echo "nvcc fatal: no licence" >&2 && exit 1 ;; esac\n' \
    >"$temp/nvcc"
  printf 'exec "%s" "$@"\n' "$LAB_TEST_NVCC" >>"$temp/nvcc"
  chmod +x "$temp/nvcc"
  export LAB_BUILD_DIR="$temp/another build" LAB_CMAKE_ARGS="$LAB_CMAKE_ARGS -DCMAKE_CUDA_COMPILER=$temp/nvcc"
  check 0 "an nvcc that stops to work" STEP=04 BACKEND=cpu WHICH=solution
  expect '^ *nvcc does not work here, so it was not tried: nvcc fatal: no licence$' "an nvcc that stops to work"
  check 0 "an nvcc that stops to work, in the clinic" CLINIC=local_memory BACKEND=cpu WHICH=solution
  expect '^clinic/local_memory: right; the goal cannot be measured here$' "an nvcc that stops to work, in the clinic"
  expect '^ *nvcc does not work here, so it was not tried: nvcc fatal: no licence$' \
    "an nvcc that stops to work, in the clinic"
}

cp "$lab/$solution" "$temp/solution.cpp"
export LAB_BUILD_DIR="$temp/the build"
case ${1:-} in
  make) test_with_make ;;
  nvcc) test_nvcc ;;
  *) test_verdicts ;;
esac
left=$(find "$lab" "$temp" -path '*/check_*.[0-9]*' -prune -print 2>/dev/null)
[[ -z $left ]] || fail "what a check made aside is still there:" "$left"
finish "a learner is told what is so"
