#!/usr/bin/env bash
# Bad input to the verbs and to the lab's own programs: each ends with an exit code that is not 0 and
# one line on stderr that says what is wrong.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need make
need_build
make_temp
# Nothing is built beside the sources, and every program exists already.
export LAB_BUILD_DIR=$build_dir
program=$build_dir/bin/solution_00_serial
for file in "$program" "$build_dir/bin/validate" "$build_dir/bin/ladder"; do
  [[ -x $file ]] || skip "$file is not built"
done
# Below a regular file nobody can make a folder, not even root.
printf 'a file\n' >"$temp/file"

# bad CODE REGEX COMMAND...: the command exits with CODE, and says on stderr, in one line that the
# extended regular expression matches, what is wrong.
bad() {
  run "${@:3}"
  one_line "$1" "$2" "${*:3}"
  tried=$((tried + 1))
}
tried=0

# bad_verb REGEX VERB [VARIABLE=VALUE...]: the same for make, whose exit code for any failure is 2.
bad_verb() {
  refuses "$1" run make_in "$source_dir" "${@:2}"
  tried=$((tried + 1))
}

# The list of steps says which is the last.
no_step='no such step; they go from 00 to [0-9][0-9]$'
which_step='which step\? Say STEP=NN, from 00 to [0-9][0-9]$'
for verb in check sanitize; do
  bad_verb "STEP=42: .*$no_step" $verb STEP=42
  bad_verb "STEP=0 4: .*$no_step" $verb STEP='0 4'
  bad_verb "STEP=../04: .*$no_step" $verb STEP=../04
  bad_verb "STEP=04; touch .*$no_step" $verb STEP="04; touch $temp/pwned"
  bad_verb "STEP=\\\$\(touch .*$no_step" $verb STEP="\$\$(touch $temp/pwned)"
  bad_verb "STEP=\`touch .*$no_step" $verb STEP="\`touch $temp/pwned\`"
  bad_verb "STEP=[.][.]: .*$no_step" $verb STEP='..'
  bad_verb "STEP=[.]\*: .*$no_step" $verb STEP='.*'
  bad_verb "STEP=04_x: .*$no_step" $verb STEP=04_x
  bad_verb "STEP=-1: .*$no_step" $verb STEP=-1
  bad_verb "$which_step" $verb STEP=
  bad_verb "$which_step" $verb
  bad_verb 'WHICH=foo: must be exercise or solution' $verb STEP=04 WHICH=foo
done
bad_verb 'N=abc: must be a whole number' sanitize STEP=04 N=abc
bad_verb 'N=1e3: must be a whole number' sanitize STEP=04 N=1e3
bad_verb 'N=100 200: must be a whole number' sanitize STEP=04 N='100 200'

check_zero=(check STEP=00 WHICH=solution)
# Found before anything is configured or built: there is no build folder yet.
export LAB_BUILD_DIR=$temp/new_build
for n in 2 1048577 x; do
  for verb in count trace sanitize nsys ncu; do
    bad_verb "N=$n: must be a whole number from 3 to 1048576" $verb STEP=06 N="$n"
  done
done
bad_verb 'ITERATIONS=0: must be a whole number, from 1 up' trace STEP=06 ITERATIONS=0
bad_verb 'BACKEND=tpu: must be gpu or cpu' progress BACKEND=tpu TIME=1
for n in abc 2 ',' '100 250' -4 1048577 99999999999999999999 '100,2'; do
  bad_verb "N=$n: must be a whole number from 3 to 1048576" "${check_zero[@]}" N="$n"
done
for limit in x 0 -1 86401 99999999999999999999; do
  bad_verb "TIME_LIMIT=$limit: must be a whole number of seconds, from 1 to 86400" "${check_zero[@]}" TIME_LIMIT="$limit"
done
for verb in check run sanitize nsys diff; do
  bad_verb 'FILE=mine.cu: this verb takes the file of a step' $verb STEP=04 FILE=mine.cu
done
bad_verb 'FILE=mine.cu: this verb takes the file of a step' check CLINIC=transpose FILE=mine.cu
for verb in check run trace; do
  bad_verb 'BACKEND=tpu: must be gpu or cpu' $verb STEP=04 BACKEND=tpu WHICH=solution
done
bad_verb 'BACKEND=tpu: must be gpu or cpu' run BACKEND=tpu
for ranks in 65 99999 2,65; do
  bad_verb "RANKS=$ranks: at most 64 on one machine; LAB_MPIRUN says" check STEP=14 WHICH=solution RANKS="$ranks"
done
bad 4 "RESULTS=$temp/file/results: cannot be written" env RESULTS="$temp/file/results" "$source_dir/scripts/verbs/measure/run.sh"
bad_verb 'STEPS=42: there is no such step' run STEPS=42
bad_verb 'STEPS=[*]: there is no such step' run STEPS='*'
bad_verb 'STEPS=04;touch: there is no such step' run STEPS="04;touch $temp/pwned"
bad_verb 'BASELINE=99: must be previous' nsys STEP=05 BASELINE=99
bad_verb 'STEPS=,: names no step' run STEPS=,
bad_verb 'RESULTS=.*: a ladder of some steps is only printed; leave out STEPS, or RESULTS' run STEPS=04 RESULTS="$temp/results"
bad_verb 'WICH: there is no such variable \(make help\)' check STEP=01 WICH=solution
bad_verb 'GPU: there is no such variable \(make help\)' check STEP=01 GPU=1
bad_verb 'nowhere.cu: cannot be read' trace FILE=nowhere.cu ARGS='run MODE=fast *'
bad_verb 'WHICH=exercise: which step[?] Also give STEP=NN' run WHICH=exercise RESULTS="$temp/results"
if [[ -d $source_dir/solutions ]]; then
  for ranks in 0 65 100 2,4 x -1 '1 2'; do
    bad_verb "RANKS=$ranks: must be a number of ranks, from 1 to 64" run RANKS="$ranks" RESULTS="$temp/results"
  done
fi
# The name lab::Ranks in a TODO comment makes no program of ranks.
fourteenth=$source_dir/exercises/14_multi_gpu/jacobi.cu
if [[ -f $fourteenth ]] && ! grep -q '^[^/]*lab::Ranks ' "$fourteenth"; then
  bad_verb 'RANKS=2: exercises/14_.* is a program of one process so far' run STEP=14 WHICH=exercise RANKS=2
fi

[[ ! -e $temp/pwned ]] || fail "a part of some input was executed"
[[ ! -e $LAB_BUILD_DIR ]] || fail "bad input was found after the build folder was made"
export LAB_BUILD_DIR=$build_dir

bad 2 '^setup.sh: --nope: no such option' "$source_dir/scripts/verbs/setup.sh" --nope
bad 2 '^test.sh: --nope: no such option' "$source_dir/scripts/verbs/test.sh" --nope

validate=$build_dir/bin/validate
bad 2 '^validate: which program\?' "$validate"
bad 2 '^validate: .*/no-such-program: No such file' "$validate" "$temp/no-such-program"
bad 2 '^validate: .*: Permission denied' "$validate" "$temp/file"
bad 2 '^validate: .*: Permission denied' "$validate" "$temp"
bad 2 '^validate: one program at a time, not ' "$validate" "$program" "$program"
bad 2 '^validate: --n x: must be a whole number' "$validate" --n x "$program"
bad 2 '^validate: --n 2: must be .* from 3 to' "$validate" --n 2 "$program"
bad 2 '^validate: --n 100x: must be' "$validate" --n 100x "$program"
bad 2 '^validate: --n 99999999999999999999: must be' "$validate" --n 99999999999999999999 "$program"
bad 2 '^validate: --n: needs a value' "$validate" --n '' "$program"
bad 2 '^validate: --problem foo: must be laplace, probe or harmonic' "$validate" --problem foo "$program"
bad 2 '^validate: --problem: needs' "$validate" --problem '' "$program"
bad 2 '^validate: --iterations 0: must be .* from 1 to' "$validate" --iterations 0 "$program"
bad 2 '^validate: --time-limit 0: must be .* from 1 to' "$validate" --time-limit 0 "$program"
bad 2 '^validate: --nope: no such option' "$validate" --nope "$program"
bad 2 '^validate: --n: needs a value' "$validate" "$program" --n
bad 2 '^validate: .*/gone.cpp: cannot be read' "$validate" --exercise "$temp/gone.cpp" "$program"

ladder=$build_dir/bin/ladder
bad 2 '^ladder: --nope: no such option' "$ladder" --nope
bad 2 '^ladder: --results: needs a value' "$ladder" --results
bad 2 '^ladder: --ranks 0: must be .* from 1 to 64' "$ladder" --ranks 0
bad 2 '^ladder: --ranks 65: must be .* from 1 to 64' "$ladder" --ranks 65
bad 2 '^ladder: --ranks two: must be a whole number' "$ladder" --ranks two
bad 2 '^ladder: .*/lab/steps.tsv: cannot be read' "$ladder" --lab "$temp"
bad 4 '^ladder: .*/file/results.*: Not a directory' "$ladder" --steps 00 --results "$temp/file/results"

bad 2 '^00_serial: --n 2: must be a whole number from 3 to' "$program" --n 2
bad 2 '^00_serial: --nope: no such option' "$program" --nope
bad 4 '^00_serial: --record .*/file/record: ' "$program" --record "$temp/file/record"

# No half-written file is left where one could not be written.
[[ $(<"$temp/file") == "a file" ]] || fail "a file that stood in the way was overwritten"
finish "$tried commands with bad input"
