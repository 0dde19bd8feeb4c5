#!/usr/bin/env bash
# scripts/publish/exercises.py finds what it is there to find, and mends what it says it mends: tried on a copy
# of the lab, one mistake at a time.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need python3 git
[[ -d $source_dir/solutions ]] || skip "there are no solutions here to compare with"
make_temp
lab=$temp/lab

in_lab() { git -C "$lab" -c user.name=test -c user.email=test@example.org -c commit.gpgSign=false "$@"; }
tool() { run python3 "$lab/scripts/publish/exercises.py" "$@"; }
commit() {
  in_lab add -A -f
  in_lab commit -q -m "$1"
}

# The lab as it was committed last, with today's tool: whoever works on exercises or solutions just now
# is in the middle of something.
prepare() {
  local folder
  if in_git; then
    mkdir "$lab"
    git -C "$source_dir" archive HEAD lab exercises solutions | tar -C "$lab" -xf -
    tar -C "$source_dir" --exclude=__pycache__ -cf - scripts | tar -C "$lab" -xf -
  else
    copy_tree "$lab"
  fi
  # This test is about the tool: it also works in a tree where some of the guides are still to be written.
  for folder in "$lab"/exercises/*/; do
    [[ -f $folder/README.md ]] || printf '# a guide\n' >"$folder/README.md"
  done
  in_lab init -q
  commit start
}

# After each case the copy is as it was before.
restore() {
  in_lab reset -q --hard start
  in_lab clean -q -fdx
}

edit() { sed -i "$1" "$lab/$2"; }

prepare
in_lab tag start
# The files that the cases below work on, taken from the list of steps.
third=$(awk '/^03_/ { print $1 "/" $2 }' "$lab/lab/steps.tsv")
fourth=$(awk '/^04_/ { print $1 "/" $2 }' "$lab/lab/steps.tsv")

tool --check
expect_status 0 "untouched"
expect '^[0-9]+ steps: every exercise is' "untouched"

# A change in a solution that was not carried on.
edit 's/^  int iteration = 0;$/&  \/\/ those made so far/' "solutions/$third"
in_lab diff --quiet && fail "the case 'a change in a solution' changes nothing"
tool --check
expect_status 1 "a change in a solution"
expect "^exercises/$fourth: .*solutions/${third%/*}" "a change in a solution"
expect_no '^exercises/0[^4]' "a change in a solution"

# ... which --write carries on, and touches nothing else.
tool --write
expect_status 0 "--write"
tool --check
expect_status 0 "--check after --write"
changed=$(in_lab diff --name-only)
[[ $changed == "exercises/$fourth"$'\n'"solutions/$third" ]] ||
  fail "--write changed other files than the one exercise:" "$changed"
added=$(in_lab diff -U0 -- "exercises/$fourth" | grep -E '^[+-] ' || true)
wanted=$'-  int iteration = 0;\n+  int iteration = 0;  // those made so far'
[[ $added == "$wanted" ]] ||
  fail "--write changed more of the exercise than the one line (its banner or TODO blocks?):" "$added"
restore

# --write brings back an exercise that was damaged, TODO blocks and banner as they were.
edit '/^void free_fields/,/^}/d' "exercises/$fourth"
tool --write
expect_status 0 "--write of a damaged exercise"
in_lab diff --quiet || fail "--write did not bring the exercise back:" "$(in_lab diff)"
restore

# Written anew from clean, nothing changes.
tool --write
expect_status 0 "--write in a clean tree"
in_lab diff --quiet || fail "--write changed a clean tree:" "$(in_lab diff --stat)"
restore

# Where the line is gone that a TODO block stands before, nobody can say where it belongs.
edit 's/const std::size_t bytes = /const std::size_t byte_count = /' "solutions/$third"
tool --write
expect_status 1 "--write without a TODO block's anchor"
expect "exercises/$fourth: the line that a TODO block stands before" "--write without an anchor"
restore

edit '1a // TODO: nicer words' "solutions/$third"
tool --check
expect_status 1 "a TODO in a solution"
expect "^solutions/$third: a solution with a TODO" "a TODO in a solution"
restore

for gone in "exercises/$fourth" "solutions/$third" "exercises/${fourth%/*}/README.md"; do
  rm "$lab/$gone"
  tool --check
  expect_status 1 "without $gone"
  expect "^$gone: missing" "without $gone"
  restore
done

for kind in exercises solutions; do
  mkdir "$lab/$kind/77_more"
  cp "$lab/$kind/$third" "$lab/$kind/77_more/"
  tool --check
  expect_status 1 "a folder of $kind that is not in the list"
  expect "^$kind/77_more: is not in lab/steps.tsv" "a folder of $kind that is not in the list"
  restore
done

# A learner at work: named, not blamed.
edit 's/^  double sum = 0\.0;$/  double total = 0.0;/' "exercises/$fourth"
tool --check
expect_status 77 "an exercise that a learner edits"
expect "^exercises/$fourth: you have worked on it.*git checkout -- exercises/04" "an exercise that a learner edits"
restore

# The learner's first move may be to take the TODO comments out, or to write above them.
edit '/\/\/ TODO(04)/,/^ *[^ \/]/{/^ *\/\//d}' "exercises/$fourth"
grep -q TODO "$lab/exercises/$fourth" && fail "the case 'TODO blocks deleted' leaves some"
tool --check
expect_status 77 "a learner deletes the TODO comments"
expect "^exercises/$fourth: you have worked on it" "a learner deletes the TODO comments"
restore
edit '1i // Done on Monday, A. Learner' "exercises/$fourth"
tool --check
expect_status 77 "a learner writes above the banner"
restore

# The same, committed, is the lab's own mistake.
edit '/\/\/ TODO(04)/,/^ *[^ \/]/{/^ *\/\//d}' "exercises/$fourth"
commit "no TODO"
tool --check
expect_status 1 "an exercise without a TODO"
expect "^exercises/$fourth: has no TODO\(04\)" "an exercise without a TODO"
restore
edit 's/^  double sum = 0\.0;$/  double total = 0.0;/' "exercises/$fourth"
commit "drifted"
tool --check
expect_status 1 "an exercise that drifted"
expect "^exercises/$fourth: without banner" "an exercise that drifted"
restore
edit '1s/.*/\/\/ 05: a wrong name/' "exercises/$fourth"
commit "a wrong banner"
tool --check
expect_status 1 "a banner that names another step"
expect "^exercises/$fourth: its banner must begin with" "a banner that names another step"
restore

edit 's/kDefaultN = [0-9]*;/kDefaultN = 77;/' "solutions/$third"
tool --check
expect_status 1 "a kDefaultN that is not in the list"
expect "^solutions/$third: kDefaultN is not [0-9]+, as lab/steps.tsv has it" "a wrong kDefaultN"
restore

tool --nope
expect_status 2 "an unknown option"

finish "exercises.py finds every mistake that was tried"
