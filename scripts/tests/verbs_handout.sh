#!/usr/bin/env bash
# `make handout` makes what it says: no solution in it, the same archive every time, exercises as they are handed
# out; and in it the verbs do what they do in a clone, or say why not.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need make cmake git
[[ -d $source_dir/solutions ]] || skip "a handout is made in the whole lab"
make_temp
use_built
unset UPTO OUT YES HINT FROM TO SIDE TIME BACKEND RACES SOURCE_DATE_EPOCH
lab="$temp/the lab"
place="$temp/for learners"
make_clone "$lab"
name=jacobi-porting-lab-upto-04
last=$(awk '/^[0-9]/ { n = substr($1, 1, 2) } END { print n }' "$lab/lab/steps.tsv")
exercise=exercises/04_jacobi_kernel/jacobi.cu
handout() { run make_in "$lab" handout "$@"; }
files_in() { (cd "$1" && find . -type f -printf '%P\n' | sort); }

# no_solution FOLDER LAST: nothing in FOLDER, a handout up to LAST, is a line of code that a solution from LAST on
# has and nothing before it. Guides and their hints may show some, as text and as pages (of which the test `site` holds
# that they are the same).
no_solution() {
  local step source found
  : >"$temp/known"
  : >"$temp/answers"
  while IFS=$'\t' read -r step source _; do
    if [[ ${step%%_*} < $2 ]]; then
      cat "$lab/solutions/$step/$source" >>"$temp/known"
    else
      cat "$lab/solutions/$step/$source" >>"$temp/answers"
    fi
  done < <(grep '^[0-9]' "$lab/lab/steps.tsv")
  cat "$lab/exercises/00_"*/jacobi.cpp >>"$temp/known"
  # Without what says nothing by itself.
  code() {
    sed 's#//.*##; s/^ *//; s/ *$//' "$1" | grep -E '^.{24}' |
      grep -vE '^#include|^CUDA_CHECK\([A-Za-z]*\((&[a-z]*)?\)\);$|^cudaMemcpy[A-Za-z]*\)+;$' | sort -u
  }
  # Nor what is only a part of a line that is known.
  comm -13 <(code "$temp/known") <(code "$temp/answers") | while IFS= read -r found; do
    grep -qF -- "$found" "$temp/known" || printf '%s\n' "$found"
  done >"$temp/telling"
  [[ -s $temp/telling ]] || fail "no line tells the solutions from $2 on: the test is at fault"
  if found=$(grep -rFnf "$temp/telling" --exclude='*.md' --exclude-dir=site "$1"); then
    fail "$1: has lines of solutions:" "$(head -n 20 <<<"$found")"
  fi
  if found=$(find "$1" \( -name solutions -o -name tests -o -name .git -o -name '*.patch' \
    -o -name publish -o -name teach -o -name slides -o -name TEACHING.md -o -name '*.kept-*' -o -path '*/results/local' \) | grep .); then
    fail "$1: has no place for" "$found"
  fi
  if found=$(find "$1/exercises" -mindepth 1 -printf '%P\n' | awk -v last="$2" '/^[0-9]/ && substr($1, 1, 2) > last' |
    grep .); then
    fail "$1: has later exercises:" "$found"
  fi
}

test_contents() {
  local step source count before rows
  before=$(cd "$lab" && git status --porcelain --ignored)
  handout UPTO=04 OUT="$place"
  expect_status 0 "make handout"
  expect "^$name: exercises 00 to 04, without solutions\$" "make handout"
  expect "^  Made of commit [0-9a-f]{7,}\.\$" "make handout"
  expect "^  $place/$name/\$" "make handout"
  expect "^  $place/$name\.tar\.gz \([0-9]+ KiB\)\$" "make handout"
  expect_no 'not committed|older one' "make handout of a clean clone"
  [[ $(ls -A "$place") == "$name"$'\n'"$name.tar.gz" ]] || fail "make handout: files were left:" "$(ls -A "$place")"
  [[ $(cd "$lab" && git status --porcelain --ignored) == "$before" ]] || fail "make handout changed the lab"

  no_solution "$place/$name" 04
  [[ $(grep -c '^[0-9]' "$place/$name/lab/steps.tsv") == 5 ]] || fail "its list of steps should have five"
  count=0
  while IFS=$'\t' read -r step source _; do
    count=$((count + 1))
    for file in "exercises/$step/$source" "exercises/$step/README.md"; do
      # The last guide's link to the next one has become plain words.
      sed 's#\[05_copy_kernel\](\.\./05_copy_kernel/README\.md)#05_copy_kernel#' "$lab/$file" |
        cmp -s - "$place/$name/$file" || fail "$file: is not as in the clone"
    done
    cmp -s "$lab/exercises/$step/$source" "$place/$name/.start/$step/$source" || fail "$step: another start"
  done < <(grep '^[0-9]' "$place/$name/lab/steps.tsv")
  for file in README.md LICENSE Makefile CMakeLists.txt results/README.md lab/cpu/README.md scripts/verbs/check.sh; do
    [[ -f $place/$name/$file ]] || fail "$file is missing"
  done
  # Whatever stands in exercises/ beside the steps: pictures, an introduction; no slides, nothing for teachers, and no
  # answers to puzzles.
  [[ $(cd "$lab/exercises" && find . \( -path './[0-9]*' -o -path ./slides -o -name puzzles.tsv -o -name TEACHING.md \) -prune -o -type f -print | sort) == \
  "$(cd "$place/$name/exercises" && find . -path './[0-9]*' -prune -o -type f -print | sort)" ]] ||
    fail "exercises/: what lies beside the steps is not the same"
  (cd "$place/$name" && sha256sum --quiet --check .start/SHA256SUMS) || fail "its checksums are wrong"

  # What a learner reads: nothing for teachers, no later step's numbers, and no link that leads nowhere.
  for file in README.md exercises/README.md; do
    grep -q '^<!-- teachers:begin -->$' "$lab/$file" || fail "$file: has no part that is for teachers"
    if grep -nE 'teachers:|TEACHING|[Ss]chedules|stumbling|<summary>Answer|^\| (\[0[5-9]|0[5-9]_)' "$place/$name/$file"; then
      fail "$file: that is not for learners"
    fi
  done
  find "$place/$name" -name '*.md' | while IFS= read -r file; do
    { grep -oE '\]\([^)#: ]*[./][^)#: ]*\)' "$file" || true; } | sed 's/^](//; s/)$//' | while IFS= read -r link; do
      if [[ ! -e ${file%/*}/$link ]]; then echo "${file#"$place/$name/"}: $link"; fi
    done
  done >"$temp/dead"
  [[ ! -s $temp/dead ]] || fail "links that lead nowhere:" "$(<"$temp/dead")"
  rows=$(grep -cE '^\| \[0[0-4](_[a-z_]+)?\]' "$place/$name/README.md")
  [[ $rows == 5 ]] || fail "README.md: its table of steps should have five lines, and has $rows"
  # Nor what takes the whole lab, and no sum of minutes that are not there.
  for file in README.md exercises/README.md; do
    [[ $(sed -n 3p "$place/$name/$file") == "> This is a handout: the steps up to 04, without solutions. "* ]] ||
      fail "$file: does not say that it is a handout"
    if grep -nE 'whole-lab:|^make (run|test)|^(Note: r|R)ows? 1|tune\.py|make report. puts|To change it' "$place/$name/$file"; then
      fail "$file: that is of the whole lab"
    fi
  done
  if grep -nE 'Several GPUs|make (run|test|report|diff)|NCCL|STEP=(0[5-9]|1)' "$place/$name/README.md"; then
    fail "README.md: that is of the whole lab, or of later steps"
  fi
  grep -q '^make diff CLINIC=' "$lab/exercises/clinic/README.md" || fail "the clinic names no make diff: the test is at fault"
  if grep -rn 'make diff' "$place/$name/exercises"; then fail "the clinic: a handout has no solutions to compare with"; fi
  if grep -n '^That is .* in all' "$place/$name/exercises/README.md"; then fail "exercises/README.md: minutes of steps that are not there"; fi

  # The archive: the same files, of nobody.
  mkdir "$temp/unpacked here"
  tar -C "$temp/unpacked here" -xzf "$place/$name.tar.gz"
  diff -r "$place/$name" "$temp/unpacked here/$name" || fail "the archive is not the folder"
  if tar --numeric-owner -tvzf "$place/$name.tar.gz" | grep -v ' 0/0 '; then fail "the archive has owners"; fi
  # By folder: what is in lab/ comes before lab.h.
  local listed
  listed=$(tar -tzf "$place/$name.tar.gz" | tr / '\001')
  [[ $listed == "$(LC_ALL=C sort <<<"$listed")" ]] || fail "it is not sorted"
}

test_the_same_again() {
  local sum
  sum=$(sha256sum <"$place/$name.tar.gz")
  refuses "^handout.sh: $place/$name already exists; YES=1 replaces it\$" handout UPTO=04 OUT="$place"
  rm -r "${place:?}/$name"
  refuses "^handout.sh: $place/$name\.tar\.gz already exists; YES=1 " handout UPTO=04 OUT="$place"

  # Another clone, other dates, other permissions; and the author at work: committed, not committed, new.
  git clone -q "$lab" "$temp/second"
  find "$temp/second" -name .git -prune -o -type f -exec touch -d 2001-01-01 {} +
  chmod -R go-rwx "$temp/second"
  umask 077
  run env UPTO=4 OUT="$temp/second/out" "$temp/second/scripts/publish/handout.sh"
  umask 022
  expect_status 0 "in another clone"
  [[ $(sha256sum <"$temp/second/out/$name.tar.gz") == "$sum" ]] || fail "another clone makes another archive"

  sed -i 's/^  double sum = 0\.0;$/  double total = 0.0;/' "$lab/$exercise"
  echo 'notes' >"$lab/exercises/04_jacobi_kernel/jacobi.cu.kept-1"
  echo '// mine' >"$lab/lab/mine.h"
  handout UPTO=04_jacobi_kernel OUT="$place" YES=1
  expect_status 0 "an author at work"
  expect '^  What is not committed is not in it' "an author at work"
  [[ $(sha256sum <"$place/$name.tar.gz") == "$sum" ]] || fail "an author's edits change the archive"
  rm "$lab/lab/mine.h"
  commit_all "$lab" "the author's own try"
  handout UPTO=04 OUT="$place" YES=1
  expect_status 0 "an author who commits an edited exercise"
  expect '^  Edited or drifted in that commit, so taken from an older one: 04_jacobi_kernel$' "an edited exercise"
  expect_no 'not committed' "an author who commits"
  cmp -s "$place/$name/$exercise" "$temp/second/$exercise" || fail "the author's try is in the handout"
  no_solution "$place/$name" 04
  git -C "$lab" reset -q --hard HEAD^
  [[ -z $(cd "$place" && ls -d .??* 2>/dev/null) ]] || fail "files were left behind:" "$(ls -A "$place")"
}

test_others() {
  local first=jacobi-porting-lab-upto-00 all=jacobi-porting-lab-upto-$last count
  # The default place is the build folder.
  run env LAB_BUILD_DIR="$temp/the build" make --no-print-directory -C "$lab" handout UPTO=0
  expect_status 0 UPTO=0
  no_solution "$temp/the build/$first" 00
  run env LAB_BUILD_DIR="$temp/the build" make --no-print-directory -C "$lab" handout UPTO="$last"
  expect_status 0 "UPTO=$last"
  no_solution "$temp/the build/$all" "$last"
  # What its scripts call is in it, and the tables of several ranks are printed by labtools.
  while IFS= read -r script; do
    [[ -e "$temp/the build/$all/$script" ]] || fail "UPTO=$last: $script is missing, and a script calls it"
  done < <(grep -ohE '[$]lab_root/scripts/[a-z_/]+\.[a-z]+' "$temp/the build/$all"/scripts/*/*.sh | sed 's#^[^/]*/##' | sort -u)
  if command -v mpirun >/dev/null && command -v python3 >/dev/null; then
    cp "$lab"/solutions/14_*/jacobi.cu "$temp/the build/$all"/exercises/14_*/
    run env LAB_BUILD_DIR="$temp/ranks" \
      make --no-print-directory -C "$temp/the build/$all" trace STEP=14 RANKS=2 BACKEND=cpu N=64 ITERATIONS=24
    expect_status 0 "make trace of several ranks in a handout"
    expect '^ +rank 0 +rank 1 +times  range$' "make trace of several ranks in a handout"
  fi
  count=$(grep -c '^[0-9]' "$lab/lab/steps.tsv")
  [[ $(find "$temp/the build/$all/exercises" -maxdepth 1 -name '[0-9]*' | wc -l) == "$count" ]] ||
    fail "UPTO=$last: not all exercises"

  # Without git it is made of the files, if they are as they are handed out.
  cp -r "$lab" "$temp/no git"
  rm -rf "$temp/no git/.git"
  run env UPTO=04 OUT="$temp/no git/out" "$temp/no git/scripts/publish/handout.sh"
  expect_status 0 "without git"
  expect "^$name: exercises 00 to 04, without solutions\$" "without git"
  expect "^  Made of the files as they are\.\$" "without git"
  diff -r "$place/$name" "$temp/no git/out/$name" || fail "without git it is another handout"
  sed -i 's/^  double sum = 0\.0;$/  double total = 0.0;/' "$temp/no git/$exercise"
  run env UPTO=04 OUT="$temp/no git/out" YES=1 "$temp/no git/scripts/publish/handout.sh"
  expect_status 1 "without git, an edited exercise"
  expect "^start.sh: $exercise: nothing here says how it was handed out" "without git, an edited exercise"
  [[ -d $temp/no\ git/out/$name && $(find "$temp/no git/out" -maxdepth 1 | wc -l) == 3 ]] ||
    fail "a handout that failed should leave the old one, and nothing else:" "$(ls -A "$temp/no git/out")"
}

test_bad_input() {
  refuses "^handout.sh: which step\? Say UPTO=NN, from 00 to $last\$" handout
  for bad in 42 '0 4' ../04; do
    refuses "^handout.sh: UPTO=$bad: there is no such step; they go from 00 to $last\$" handout UPTO="$bad"
  done
  refuses '^handout.sh: YES=please: must be 1 or 0$' handout UPTO=04 YES=please
  printf 'a file\n' >"$temp/file"
  handout UPTO=04 OUT="$temp/file/out"
  expect "^handout.sh: OUT=$temp/file/out: this folder cannot be created\$" "a folder that cannot be made"
  expect 'Error 4$' "a folder that cannot be made"
}

# As a learner: unpacked elsewhere, from a folder with a blank in its name.
test_in_the_handout() {
  local learner="$temp/unpacked here/$name" files source
  verb() { run make_in "$learner" "$@"; }
  export LAB_BUILD_DIR="$temp/learner's build"
  files=$(files_in "$learner")

  verb
  expect_status 0 "make alone"
  for word in guide check hint diff reset progress count; do expect "^  make $word  +[^ ]" "make alone"; done
  expect '^  make diff  +STEP=04 FROM=start TO=exercise' "make alone: there is no solution to hold it against"
  expect_no '^  make (run|test|test-all|handout|tables|report) ' "make alone"
  expect_no 'WHICH=solution' "make alone"
  expect 'Begin with: exercises/00_serial/README\.md$' "make alone"
  refuses '^run.sh: a handout has no solutions to time; make progress TIME=1 times your exercises$' verb run
  refuses '^test.sh: a handout has no tests of the lab; make check STEP=NN checks your exercise$' verb test
  refuses '^make handout: this is a handout; another is made in the whole lab$' verb handout UPTO=00
  refuses '^make report: a handout has no solutions to report on; make progress shows' verb report
  refuses '^make tables: the numbers in the texts are written in the whole lab$' verb tables
  refuses 'a handout has no solutions to count; make roofline STEP=NN counts your exercise$' verb roofline
  verb doctor
  expect 'Begin with: exercises/00_serial/README\.md$' "make doctor"
  expect_no 'make run' "make doctor"
  refuses '^diff.sh: a handout has no solutions; ' verb diff STEP=04
  verb diff STEP=04 FROM=start TO=exercise
  expect "^04_jacobi_kernel: no difference between $exercise \(as handed out\) and $exercise\$" "make diff FROM=start"
  verb reset STEP=04
  expect "^$exercise is as it was handed out: nothing to do\$" "make reset"
  verb hint STEP=04
  expect_status 0 "make hint"
  expect '^04_jacobi_kernel: (hint 1 of |its guide has no hints)' "make hint"
  verb progress
  expect_status 0 "make progress"
  expect '^04_jacobi_kernel  +unchanged +-$' "make progress"
  expect_no '^05_' "make progress"
  expect '^0 of 4 done\. Next: exercises/00_serial/README\.md$' "make progress"
  refuses 'STEP=05: there is no such step; they go from 00 to 04$' verb check STEP=05

  # Built: unchanged, right, and back.
  source=exercises/01_nvtx/jacobi.cpp
  verb check STEP=01
  expect '^01_nvtx: unchanged$' "make check"
  expect "Look for TODO\(01\) in $source" "make check"
  sed -i '/TODO(01)/d' "$learner/$source"
  verb check STEP=01
  expect '^01_nvtx: unchanged$' "make check, TODO comments deleted"
  cp "$lab/solutions/01_nvtx/jacobi.cpp" "$learner/$source"
  verb check STEP=01
  expect_status 0 "make check of the solution"
  expect '^01_nvtx: right: ' "make check of the solution"
  expect_no 'solution' "make check of the solution"
  verb check STEP=00
  expect '^00_serial: right: ' "make check of the first step"
  verb check STEP=02
  expect '^02_unified_memory: unchanged$' "make check of a step that needs CUDA"
  refuses '^check.sh: solutions/01_nvtx/jacobi.cpp is not there$' verb check STEP=01 WHICH=solution
  verb progress
  expect '^01_nvtx  +done +.* CPU$' "make progress"
  expect '^1 of 4 done\. Next: exercises/02_unified_memory/README\.md$' "make progress"
  verb reset STEP=01 YES=1
  expect_status 0 "make reset YES=1"
  cmp -s "$learner/$source" "$learner/.start/01_nvtx/jacobi.cpp" || fail "make reset YES=1 does not bring it back"
  [[ $(comm -13 <(echo "$files") <(files_in "$learner")) == "$source.kept-1"* ]] || fail "no copy was kept"
  [[ $(comm -13 <(echo "$files") <(files_in "$learner") | grep -vxE "$source.kept-1|results/local/.*\.tsv") == "" ]] ||
    fail "files were left behind:" "$(comm -13 <(echo "$files") <(files_in "$learner"))"
  # The programs of every step and of the clinic can be built, and no others.
  [[ $(sed 's/_cpu.*//' "$LAB_BUILD_DIR/step_targets.txt" | sort -u) == \
  "$(awk -F '\t' '/^[0-9]/ { print "exercise_" $1 } /^[a-z]/ { print "exercise_clinic_" $1 }' \
    "$learner"/lab/{steps,clinic}.tsv | sort)" ]] ||
    fail "other programs than the exercises':" "$(<"$LAB_BUILD_DIR/step_targets.txt")"

  # Whoever works in the copies of .start gets no wrong start from it.
  echo '// mine' >>"$learner/.start/04_jacobi_kernel/jacobi.cu"
  verb reset STEP=04
  expect_status 2 "a start that was edited"
  expect '^start.sh: \.start/04_jacobi_kernel/jacobi\.cu is missing, or was changed since' "a start that was edited"
  rm "$learner/.start/04_jacobi_kernel/jacobi.cu"
  verb diff STEP=04 FROM=start TO=exercise
  expect '^start.sh: \.start/04_jacobi_kernel/jacobi\.cu is missing, or was changed since' "a start that is gone"
  # A handout in a repository of the learner's own is still a handout.
  git -C "$learner" init -q
  commit_all "$learner" mine
  verb reset STEP=01
  expect "^$source is as it was handed out: nothing to do\$" "a handout in the learner's own repository"

  # With nvcc, the same exercises for a GPU.
  if [[ -n ${LAB_TEST_NVCC:-} ]]; then
    run cmake -S "$learner" -B "$temp/nvcc build" -DCMAKE_CUDA_COMPILER="$LAB_TEST_NVCC" -DCMAKE_CUDA_ARCHITECTURES=90 \
      ${LAB_TEST_CUDA_HOST:+-DCMAKE_CUDA_HOST_COMPILER="$LAB_TEST_CUDA_HOST"}
    expect_status 0 "configured with nvcc"
    grep -qx exercise_04_jacobi_kernel "$temp/nvcc build/step_targets.txt" || fail "with nvcc: no programs for a GPU"
  fi
}

test_contents
test_the_same_again
test_others
test_bad_input
test_in_the_handout
finish "make handout"
