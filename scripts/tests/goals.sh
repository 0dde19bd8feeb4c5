#!/usr/bin/env bash
# The goals of each step, as far as they can be measured here: its solution reaches them, and the exercise
# as it is handed out, which is the solution of the step before, misses one. And the program's bad usage.
set -euo pipefail
# shellcheck source=scripts/tests/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_build
make_temp
goals=$build_dir/bin/goals
[[ -x $goals ]] || skip "$goals is not there"

# measure STEP PROGRAM [WATCHED]
measure() {
  local step=$1 program=$2 watched=${3:-}
  local -a options=(--name "$step")
  if [[ -x $watched ]]; then options+=(--watched "$watched"); fi
  options+=(--ranks "1,2")
  if [[ -f $build_dir/lib/liblab_trace.so ]]; then options+=(--tracer "$build_dir/lib/liblab_trace.so"); fi
  run "$goals" "${options[@]}" "$program"
}

# Steps whose exercise cannot be told from the solution without a GPU.
need_gpu=" 03 07 11 12 13 "
measured=0 before="" before_source=""
while IFS=$'\t' read -r step source needs _; do
  number=${step%%_*}
  suffix=""
  if [[ $needs != cpu ]]; then suffix=_cpu; fi
  program=$build_dir/bin/solution_$step$suffix
  if [[ -x $program && $number != 00 ]]; then
    measure "$step" "$program" "${program}_watched"
    expect_status 0 "the solution of $step"
    expect "^$step: (done|right; )" "the solution of $step"
    expect_no "(crashed|exit code|not built)" "the solution of $step"
    if [[ $need_gpu != *" $number "* ]]; then expect "Goal reached: " "the solution of $step"; fi

    # The step before, in this one's place.
    if [[ $need_gpu != *" $number "* && -x $before && ($source != *.cu || $before_source == *.cu) ]]; then
      measure "$step" "$before" "${before}_watched"
      expect_status 1 "$step, not begun"
      expect "Goal MISSED: " "$step, not begun"
      expect "^$step: right, but the step's goal is not reached$" "$step, not begun"
      measured=$((measured + 1))
    fi
  fi
  before=$program before_source=$source
done < <(grep '^[0-9]' "$source_dir/lab/steps.tsv")
((measured >= 4)) || fail "only $measured steps could be held against the one before"

# bad WORDS OPTION...: bad usage, in one line.
bad() {
  local words=$1
  shift
  run "$goals" "$@"
  expect_status 2 "goals $*"
  expect "^goals: $words" "goals $*"
}
program=$build_dir/bin/solution_00_serial
bad 'which program\?' --name 04_jacobi_kernel
bad '--name: needs a step' "$program"
bad '--name: needs a step' --name 4 "$program"
bad '--watched: needs a value' --name 04_jacobi_kernel --watched
bad '--frobnicate: no such option' --frobnicate
bad '--ranks two: must be a whole number' --ranks 1,two
bad '--ranks 0: must be' --ranks 0
bad 'one program at a time' --name 04_x "$program" "$program"
bad '--time-limit 0: must be a number' --time-limit 0
bad '--time-limit ten: must be a number' --time-limit ten
# A program that is not there, and one that breaks: nothing is measured, and nothing is claimed.
run "$goals" --name 02_unified_memory /nowhere/program
expect "not measurable here" "a program that is not there"
expect "02_unified_memory: right; the goal cannot be measured here" "a program that is not there"
printf '#!/bin/sh\nkill -SEGV $$\n' >"$temp/crash"
printf '#!/bin/sh\nsleep 60\n' >"$temp/hang"
chmod +x "$temp/crash" "$temp/hang"
run "$goals" --name 02_unified_memory "$temp/crash"
expect "it crashed: SIGSEGV" "a program that crashes"
run "$goals" --name 02_unified_memory --time-limit 1 "$temp/hang"
expect "it took more than 1 s" "a program that hangs"

finish "the goals of every step, and $measured exercises that miss theirs"
