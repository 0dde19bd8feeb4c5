#!/usr/bin/env bash
# `make diff` compares what it is told to, in a clone, in a handout, on a terminal and into a file.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need make git
[[ -d $source_dir/solutions ]] || skip "there are no solutions here to compare with"
make_temp
unset FROM TO SIDE COLUMNS NO_COLOR
mkdir "$temp/tmp"
export TMPDIR=$temp/tmp TERM=xterm
lab="$temp/the lab"
make_clone "$lab"
exercise=exercises/04_jacobi_kernel/jacobi.cu
solution=solutions/04_jacobi_kernel/jacobi.cu
before=solutions/03_larger_grid/jacobi.cpp

diff_of() { run make_in "$lab" diff "$@"; }

# labels LEFT RIGHT WHAT: the first two lines.
labels() {
  [[ $(head -n 2 <<<"$out") == "--- $1"$'\n'"+++ $2" ]] || show "$3: it should compare $1 with $2"
}

# same_as FILE FILE WHAT: what was printed, below its labels, is their difference.
same_as() {
  [[ $(tail -n +3 <<<"$out") == "$(diff -u "$1" "$2" | tail -n +3)" ]] || show "$3: another difference"
}

cp "$lab/$exercise" "$temp/handed_out.cu"
sed -i 's/^  double sum = 0\.0;$/  double total = 0.0;/' "$lab/$exercise"

diff_of STEP=04
expect_status 0 default
labels "$exercise" "$solution" default
same_as "$lab/$exercise" "$lab/$solution" default
expect '^-  double total = 0\.0;$' default
expect_no $'\033' default
[[ -z $err ]] || show "default: it should say nothing on stderr"

diff_of STEP=4 FROM=start TO=exercise
expect_status 0 "FROM=start TO=exercise"
labels "$exercise (as handed out)" "$exercise" "FROM=start TO=exercise"
same_as "$temp/handed_out.cu" "$lab/$exercise" "FROM=start TO=exercise"
# The learner's commit is not what was handed out.
commit_all "$lab" "my work"
diff_of STEP=4 FROM=start TO=exercise
same_as "$temp/handed_out.cu" "$lab/$exercise" "FROM=start after a commit"

diff_of STEP=04_jacobi FROM=before
expect_status 0 FROM=before
labels "$before" "$solution" FROM=before
same_as "$lab/$before" "$lab/$solution" FROM=before

diff_of STEP=04 FROM=solution TO=exercise
labels "$solution" "$exercise" "the other way round"

run env STEP=04 "$lab/scripts/verbs/diff.sh"
expect_status 0 "the script itself, from another folder"
labels "$exercise" "$solution" "the script itself"

# Lines that end in CR LF are no difference.
sed 's/$/\r/' "$lab/$solution" >"$lab/$exercise"
diff_of STEP=04
expect_status 0 "CR LF"
expect "^04_jacobi_kernel: no difference between $exercise and $solution\$" "CR LF"
cp "$lab/$solution" "$lab/$exercise"
diff_of STEP=04 SIDE=1
[[ $said == "04_jacobi_kernel: no difference between $exercise and $solution"$'\n' ]] ||
  show "no difference: it should say that in one line"

# Side by side.
cp "$temp/handed_out.cu" "$lab/$exercise"
for width in 100 133; do
  run env COLUMNS=$width make --no-print-directory -C "$lab" diff STEP=04 SIDE=1
  expect_status 0 "SIDE=1, $width columns"
  longest=$(awk '{ if (length($0) > n) n = length($0) } END { print n + 0 }' <<<"$out")
  ((longest <= width && longest > width - 10)) || show "SIDE=1, $width columns: the longest line has $longest"
  right=$(head -n 1 <<<"$out")
  [[ $right == "$exercise "*" solutions/04_"* ]] || show "SIDE=1: the first line should name both"
  right=${right%%solutions*}
  # A line that stands on both sides, and nowhere else.
  at=$(grep -m 1 '^#include <cmath> ' <<<"$out")
  at=${at%#include*}
  expect "^Cut at $width columns; 2[0-9][0-9] show all of it, and so does make diff without SIDE=1\.\$" "SIDE=1, $width columns"
  ((${#right} == ${#at})) || show "SIDE=1, $width columns: the right name should stand above the right column"
done
run env COLUMNS=250 make --no-print-directory -C "$lab" diff STEP=04 SIDE=1
expect_no 'show all of it' "SIDE=1, columns enough"
diff_of STEP=04 SIDE=1
expect_status 0 "SIDE=1 into a file"
expect ' \|  ' "SIDE=1 into a file"
expect_no $'\033|\t' "SIDE=1 into a file"
diff_of STEP=04 SIDE=0
labels "$exercise" "$solution" SIDE=0

# On a terminal, with its width and in colour.
if command -v script >/dev/null; then
  on_terminal() {
    run env LAB="$lab" SHELL=/bin/bash script -qec \
      "stty cols 90; $1 make --no-print-directory -C \"\$LAB\" diff STEP=04 $2" /dev/null
  }
  on_terminal "" ""
  expect_status 0 "on a terminal"
  expect $'^\033\\[31m-.*\033\\[0m.?$' "on a terminal: a line that went, in red"
  expect $'^\033\\[32m\\+.*\033\\[0m.?$' "on a terminal: a line that came, in green"
  on_terminal "NO_COLOR=1" ""
  expect_no $'\033' "NO_COLOR=1"
  on_terminal "TERM=dumb" ""
  expect_no $'\033' "TERM=dumb"
  on_terminal "" "SIDE=1"
  longest=$(tr -d '\r' <<<"$out" | awk '{ if (length($0) > n) n = length($0) } END { print n + 0 }')
  ((longest <= 90 && longest > 80)) || show "SIDE=1 on a terminal of 90 columns: the longest line has $longest"
fi

# No space for what is temporary: one line.
run bash -c "(trap '' XFSZ; ulimit -f 0; STEP=04 FROM=start '$lab/scripts/verbs/diff.sh') 2>&1 | cat"
[[ $out == "diff.sh: $TMPDIR: no space left there; TMPDIR names another folder for what is temporary" ]] ||
  show "no space for what is temporary: one line"

# Bad input.
refuses '^diff.sh: which step\? Say STEP=NN, from 00 to ' diff_of
refuses '^diff.sh: STEP=42: there is no such step; they go from 00 to ' diff_of STEP=42
refuses '^diff.sh: FROM=left: must be exercise, start, solution or before$' diff_of STEP=04 FROM=left
refuses '^diff.sh: TO=exercise solution: must be ' diff_of STEP=04 TO='exercise solution'
refuses '^diff.sh: SIDE=yes: must be 1 or 0$' diff_of STEP=04 SIDE=yes
refuses '^diff.sh: FROM=before: 00_serial is the first step$' diff_of STEP=00 FROM=before
rm "$lab/$exercise"
refuses "^diff.sh: $exercise is not there \(make reset STEP=04 puts it back\)\$" diff_of STEP=04
diff_of STEP=04 FROM=start
expect_status 0 "the exercise is gone, but not what was handed out"
mv "$lab/$solution" "$temp/"
refuses "^diff.sh: $solution is not there\$" diff_of STEP=04 FROM=start
cp "$temp/handed_out.cu" "$lab/$exercise"
rm -r "$lab/solutions"
refuses '^diff.sh: a handout has no solutions; .*make diff STEP=04 FROM=start TO=exercise$' diff_of STEP=04
refuses '^diff.sh: a handout has no solutions; ' diff_of STEP=04 FROM=before TO=exercise
# Neither git nor a handout's copies, and an exercise that was edited.
rm -rf "$lab/.git"
diff_of STEP=04 FROM=start TO=exercise
expect_status 2 "nobody knows the start"
expect "^start.sh: $exercise: nothing here says how it was handed out" "nobody knows the start"

[[ -z $(ls -A "$temp/tmp") ]] || fail "files were left behind:" "$(ls -A "$temp/tmp")"
finish "make diff"
