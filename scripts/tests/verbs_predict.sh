#!/usr/bin/env bash
# `make predict` asks a guide's own questions and keeps the answers; when a step is done they stand beside the measured
# ones.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need make cmake git python3
[[ -d $source_dir/solutions ]] || skip "there are no solutions here"
make_temp
unset BACKEND RACES NO_COLOR COLUMNS
use_built
export LAB_BUILD_DIR="$temp/the build"
lab="$temp/the learner's lab"
make_clone "$lab"
kept=$lab/results/local/predictions.tsv
exercise=exercises/01_nvtx/jacobi.cpp

# predict INPUT VARIABLE=VALUE...
predict() {
  status=0
  printf '%b' "$1" | make_in "$lab" predict "${@:2}" >"$temp/out" 2>"$temp/err" || status=$?
  out=$(<"$temp/out") err=$(<"$temp/err")
  said=$out$'\n'$err
}

# Every guide's questions, as many as its table answers.
while IFS= read -r step; do
  guide=$lab/exercises/$step/README.md
  predict "" STEP="${step%%_*}"
  expect_status 0 "$step"
  questions=$(awk '/^## / { inside = /^## Predict/ } inside && /^[0-9]+\. /' "$guide" | wc -l)
  expect "^$step: $questions predictions\." "$step"
  [[ $(grep -c '^[0-9]\. ' <<<"$out") == "$questions" ]] || show "$step: should ask $questions questions"
  [[ -z $(awk 'length($0) > 82' <<<"$out") ]] || show "$step: lines of more than 80 columns"
  expect_no '<!--|^\| |measured  ' "$step"
done < <(sed -n 's/^\([0-9][0-9]_[a-z0-9_]*\)\t.*/\1/p' "$lab/lab/steps.tsv")
[[ ! -e $kept ]] || fail "no answer was given, and one was kept:" "$(<"$kept")"
predict "" STEP=15
expect '^ +first half of a pass     second half$' "a question with a drawing"
expect '^   All 132 multiprocessors of an H200 ' "what a question says below it"

predict 'the sweep\n\nK | *twice* \\n\t<b>' STEP=01
expect_status 0 "three answers"
expect '^Answers kept: 2 of 3 \(none to 2\)\. make predict STEP=01 goes on\.$' "three answers"
[[ $(tail -n 1 "$kept") == $'01_nvtx\tthe sweep\t-\tK | *twice* \\n <b>' ]] || fail "other answers were kept:" "$(<"$kept")"
predict '\n2 : 1\n' STEP=1
[[ $(tail -n 1 "$kept") == $'01_nvtx\tthe sweep\t2 : 1\tK | *twice* \\n <b>' ]] || fail "one answer more:" "$(<"$kept")"
[[ $(grep -c 'Your answer: ' <<<"$out") == 2 ]] || show "two answers were there"
predict 'copy\n' STEP=01
predict "" STEP=01
expect '^   Your answer: copy$' "an answer that was changed"
expect '^   Your answer: 2 : 1$' "an answer that was kept"
expect '^Answers kept: 3 of 3\. make predict STEP=01 asks again\.$' "before the step is done"
expect '^When the step is done, the measured answers are shown here' "before the step is done"
predict 'a guess\n' STEP=02
[[ $(cut -f 1 "$kept" | uniq) == 01_nvtx$'\n'02_unified_memory ]] || fail "of two steps:" "$(<"$kept")"

# Asked for, or when the step is done: beside the measured ones.
run make_in "$lab" guide STEP=01 SHOW=predictions
expect '^prediction +yours +measured +why$' "the guide"
expect '^1\. the longer one +copy +.jacobi_sweep' "the guide"
expect '^3\. entries +K \| \*twice\* \\n <b> +1, 1, 2, K and K ' "the guide"
run make_in "$lab" check STEP=01
expect_no 'yours' "a step that is not done"
cp "$lab/solutions/01_nvtx/jacobi.cpp" "$lab/$exercise"
run make_in "$lab" check STEP=01
expect_status 0 "the solution"
expect '^  Next: compare your predictions \(below\)' "a step that is done"
expect '^prediction +yours +measured +why$' "a step that is done"
run make_in "$lab" check STEP=01
expect '^  Next: compare your predictions with what was measured: make predict STEP=01' "a step that was done before"
expect_no '^prediction +yours' "a step that was done before"
run env PATH="$(path_without_python)" make --no-print-directory -C "$lab" check STEP=01
expect_status 0 "a step that is done, without Python"
expect_no 'yours|below|python' "a step that is done, without Python"
predict "" STEP=01
expect '^prediction +yours +measured +why$' "make predict when the step is done"
rm "$kept"
run make_in "$lab" check STEP=01
expect_no 'yours|below' "nothing was predicted"

# Where it cannot be written, that is said, and no answer is called kept.
rm -r "$lab/results/local"
printf 'a file\n' >"$lab/results/local"
predict 'a\nb\n' STEP=01
expect 'Error 4$' "nothing can be kept"
expect_no 'Answers kept' "nothing can be kept"
expect '^predict.sh: results/local/predictions.tsv: cannot be written, so this is not remembered$' "nothing can be kept"
rm "$lab/results/local"

# On a terminal.
if command -v script >/dev/null; then
  printf 'mine\n\n\n\n' | env LAB="$lab" SHELL=/bin/bash TERM=xterm script -qec \
    "make --no-print-directory -C \"\$LAB\" predict STEP=03" /dev/null >"$temp/out" 2>&1 || fail "on a terminal"
  grep -q $'^03_larger_grid\tmine\t-\t-' "$kept" || fail "on a terminal nothing was kept:" "$(<"$temp/out")"
fi

refuses '^predict.sh: which step\? Say STEP=NN, from 00 to ' predict ""
refuses '^predict.sh: STEP=42: there is no such step' predict "" STEP=42
printf '# 05\n\n## Why\n' >"$lab/exercises/05_copy_kernel/README.md"
refuses '^predict.sh: exercises/05_copy_kernel/README.md has no questions to predict$' predict "" STEP=05
rm "$lab/exercises/05_copy_kernel/README.md"
refuses '^predict.sh: exercises/05_copy_kernel/README.md is not there' predict "" STEP=05
finish "make predict"
