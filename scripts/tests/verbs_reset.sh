#!/usr/bin/env bash
# `make reset` brings an exercise back as it was handed out, keeps the learner's, and asks first.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need make git
[[ -d $source_dir/solutions ]] || skip "there are no solutions here"
make_temp
unset YES
lab="$temp/the lab"
make_clone "$lab"
folder=exercises/04_jacobi_kernel
exercise=$folder/jacobi.cu
cp "$lab/$exercise" "$temp/handed_out"
reset() { run make_in "$lab" reset "$@"; }

# edit [TEXT]: a learner's edit.
edit() { sed -i "s/^  double sum = 0\.0;\$/  double ${1:-total} = 0.0;/" "$lab/$exercise"; }

# brought_back NUMBER TEXT WHAT: the exercise is as handed out, and the learner's, with TEXT in it, kept.
brought_back() {
  expect_status 0 "$3"
  cmp -s "$lab/$exercise" "$temp/handed_out" || show "$3: the exercise is not as it was handed out"
  grep -qs "double $2 = " "$lab/$exercise.kept-$1" || show "$3: the learner's should be kept in jacobi.cu.kept-$1"
  expect "(^|: )$exercise is as it was handed out\. Yours is kept:\$" "$3"
  expect "^  $exercise\.kept-$1\$" "$3"
  at_home "$3"
}

# untouched WHAT: the learner's is there, and no copy more than before.
untouched() {
  cmp -s "$lab/$exercise" "$temp/mine" || show "$1: the learner's file was changed"
  at_home "$1"
}

# at_home WHAT: nothing else lies in the folder.
at_home() {
  local others
  others=$(find "$lab/$folder" -type f -printf '%P\n' |
    grep -vxE 'README\.md|jacobi\.cu|jacobi\.cu\.kept-[0-9]+' || true)
  [[ -z $others ]] || fail "$1: files were left behind:" "$others"
}

reset STEP=04
expect_status 0 "as handed out"
[[ $said == "$exercise is as it was handed out: nothing to do"$'\n' ]] || show "as handed out: one line"
reset STEP=04 YES=1
expect "^$exercise is as it was handed out: nothing to do\$" "as handed out, YES=1"
[[ ! -e $lab/$exercise.kept-1 ]] || fail "as handed out: a copy was kept"

# Nobody to ask.
edit
cp "$lab/$exercise" "$temp/mine"
refuses "^reset.sh: there is no terminal to ask on: YES=1 puts $exercise back\$" reset STEP=04
untouched "no terminal"
refuses "^reset.sh: there is no terminal to ask on" reset STEP=04 YES=0
untouched YES=0

chmod 640 "$lab/$exercise"
reset STEP=04 YES=1
brought_back 1 total YES=1
[[ $(stat -c %a "$lab/$exercise") == 640 ]] || fail "the file's permissions changed"
cmp -s "$lab/$exercise.kept-1" "$temp/mine" || fail "what is kept is not what the learner had"

# Copies are numbered, and none is overwritten.
edit other
run env STEP=4 YES=1 "$lab/scripts/verbs/reset.sh"
brought_back 2 other "once more, by the script itself"
cmp -s "$lab/$exercise.kept-1" "$temp/mine" || fail "the first copy was overwritten"
[[ -z $(git -C "$lab" status --porcelain) ]] ||
  fail "git should see neither the copies nor a change:" "$(git -C "$lab" status --porcelain)"
if command -v python3 >/dev/null; then
  run python3 "$lab/scripts/publish/exercises.py" --check
  expect_status 0 "exercises.py, with copies kept"
fi

# A TODO comment taken out is a change, too.
sed -i '/TODO(04).* name the block/d' "$lab/$exercise"
edit third
reset STEP=04 YES=1
brought_back 3 third "a TODO comment taken out"

# What the learner commits is not what was handed out, not even the code of the step before.
edit fourth
commit_all "$lab" "my work"
cp "$lab/solutions/03_larger_grid/jacobi.cpp" "$lab/$exercise"
commit_all "$lab" "without a TODO comment"
edit fourth
reset STEP=04 YES=1
brought_back 4 fourth "a learner who commits"
# In a clone without history before that, what was handed out is not there.
edit fifth
commit_all "$lab" "more work"
git clone -q --depth 1 "file://$lab" "$temp/shallow"
run env STEP=04 YES=1 "$temp/shallow/scripts/verbs/reset.sh"
expect_status 1 "a clone of the learner's last commit"
expect "^start.sh: $exercise: nothing here says how it was handed out: no git history" "a clone of the last commit"
reset STEP=04 YES=1
brought_back 5 fifth "back once more"
commit_all "$lab" "begin again"

# The lab moves on: the newest start counts, in whatever order solution and exercise were committed.
new_line='  int iteration = 0;  // sweeps made so far'
sed -i "s|^  int iteration = 0;\$|$new_line|" "$lab/$exercise"
cp "$lab/$exercise" "$temp/handed_out"
commit_all "$lab" "the exercise first"
sed -i "s|^  int iteration = 0;\$|$new_line|" "$lab/solutions/03_larger_grid/jacobi.cpp"
commit_all "$lab" "then the solution"
edit sixth
reset STEP=04 YES=1
brought_back 6 sixth "a lab that has moved on"

# Git that is not there, or will not look.
edit seventh
cp "$lab/$exercise" "$temp/mine"
run env GIT_TEST_ASSUME_DIFFERENT_OWNER=1 STEP=04 YES=1 "$lab/scripts/verbs/reset.sh"
expect_status 1 "a clone of another owner"
expect "^start.sh: $exercise: only git knows how it was handed out, and it says: fatal: .*dubious.* --add safe.directory '$lab'\)\$" \
  "a clone of another owner"
untouched "a clone of another owner"
mkdir "$temp/tools"
for tool in /usr/bin/* /bin/*; do
  if [[ ${tool##*/} != git ]]; then ln -sf "$tool" "$temp/tools/"; fi
done
run env PATH="$temp/tools" STEP=04 YES=1 "$lab/scripts/verbs/reset.sh"
expect_status 1 "without git"
expect "^start.sh: $exercise: only git knows how it was handed out, and it says: git is not installed\$" "without git"
untouched "without git"
reset STEP=04 YES=1
brought_back 7 seventh "git is there again"

# A folder that cannot be written.
mv "$lab/$folder" "$temp/aside"
touch "$lab/$folder"
reset STEP=04
expect 'Error 4$' "a folder that cannot be written"
expect "^reset.sh: $folder: cannot be written\$" "a folder that cannot be written"
[[ $(grep -c '' <<<"$err") == 2 ]] || show "a folder that cannot be written: one line"
rm "$lab/$folder"
mv "$temp/aside" "$lab/$folder"

# A learner who deleted the file, or its folder.
rm "$lab/$exercise"
reset STEP=04
expect_status 0 "a file that is gone"
expect "^$exercise was gone, and is there again as it was handed out\$" "a file that is gone"
cmp -s "$lab/$exercise" "$temp/handed_out" || fail "a file that is gone: it is not back"
[[ $(stat -c %a "$lab/$exercise") == 644 ]] || fail "a file that is gone: others cannot read it"
rm -r "${lab:?}/$folder"
reset STEP=04
expect_status 0 "a folder that is gone"
cmp -s "$lab/$exercise" "$temp/handed_out" || fail "a folder that is gone: it is not back"

# The first step has no task, and a start all the same.
echo '// mine' >>"$lab/exercises/00_serial/jacobi.cpp"
reset STEP=00 YES=1
expect_status 0 "the first step"
cmp -s "$lab/exercises/00_serial/jacobi.cpp" "$lab/solutions/00_serial/jacobi.cpp" ||
  fail "the first step is not as it was handed out"

# On a terminal it asks.
if command -v script >/dev/null; then
  answer() { # answer TEXT
    edit asked
    cp "$lab/$exercise" "$temp/mine"
    run env LAB="$lab" SHELL=/bin/bash bash -c \
      "printf '%s\n' '$1' | script -qec 'make --no-print-directory -C \"\$LAB\" reset STEP=04' /dev/null"
    out=$(tr -d '\r' <<<"$out")
    said=$out
    expect "^$exercise will be as it was handed out\.\$" "asked, '$1'"
    expect "^What you have written is kept in $exercise\.kept-1\.\$" "asked, '$1'"
    expect 'Type "yes": ' "asked, '$1'"
  }
  for no in no y YES ''; do
    answer "$no"
    expect 'nothing was changed' "asked, '$no'"
    expect 'reset\] Error 1$' "asked, '$no'"
    untouched "asked, '$no'"
    [[ ! -e $lab/$exercise.kept-1 ]] || fail "asked, '$no': a copy was kept"
  done
  answer yes
  brought_back 1 asked "asked, 'yes'"
fi

# Without git there is nothing to bring back, but a file that is still as handed out is known.
rm -rf "$lab/.git"
reset STEP=04
expect "^$exercise is as it was handed out: nothing to do\$" "without git"
edit last
cp "$lab/$exercise" "$temp/mine"
reset STEP=04 YES=1
expect_status 2 "without git, edited"
expect "^start.sh: $exercise: nothing here says how it was handed out" "without git, edited"
untouched "without git, edited"
# A copy that was kept in time brings it back, as long as it belongs to the solution before.
cp "$temp/handed_out" "$lab/$exercise"
"$lab/scripts/lib/start.sh" --keep
cp "$temp/mine" "$lab/$exercise"
rm -f "$lab/$exercise".kept-*
reset STEP=04 YES=1
brought_back 1 last "an archive without git"
cp "$temp/mine" "$lab/$exercise"
sed -i 's/0\.25f/0.26f/' "$lab/.start/04_jacobi_kernel/jacobi.cu"
reset STEP=04 YES=1
expect "^start.sh: $exercise: nothing here says how it was handed out" "a copy that was edited"
rm -r "$lab/.start"
# In somebody else's repository, neither.
git -C "$temp" init -q
reset STEP=04 YES=1
expect "^start.sh: $exercise: nothing here says how it was handed out" "in another repository"
untouched "in another repository"
# As a folder of a larger one, it is known.
cp "$temp/handed_out" "$lab/$exercise"
rm -f "$lab/$exercise".kept-*
rm -rf "$temp/shallow"
commit_all "$temp" "a larger repository"
edit part
reset STEP=04 YES=1
brought_back 1 part "a folder of a larger repository"

# Bad input.
refuses '^reset.sh: which step\? Say STEP=NN, from 00 to ' reset
refuses '^reset.sh: STEP=42: there is no such step' reset STEP=42 YES=1
refuses '^reset.sh: YES=yes: must be 1 or 0$' reset STEP=04 YES=yes

finish "make reset"
