#!/usr/bin/env bash
# `make class` and `make grade` on a class made out of the bank, in which some are hostile. class.sh: one learner of
# each kind on the board, and a few of them graded. class.sh thirty: all thirty are graded, which
# takes three minutes on two cores, so no tier has it.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need make cmake git python3 patch
[[ -d $source_dir/solutions ]] || skip "there are no solutions here"
make_temp
chmod 711 "$temp"
unset DIR OUT INTERVAL ONCE STEPS CHECK_LIMIT MEMORY DISK
use_built
size=${1:-small}
class="$temp/Ada's class"
"$source_dir/scripts/tests/make_class.sh" "$class" "$size"
sums() { (cd "$whole_class" && find . -type f -exec sha256sum {} + | sort); }
whole_class=$class
before=$(sums)
class() { run make_in "$source_dir" class DIR="$class" ONCE=1 "$@"; }
grade() { run make_in "$source_dir" grade DIR="$class" OUT="$temp/grades.csv" "$@"; }

test_board() {
  local page=$temp/board.html
  class OUT="$page"
  expect_status 0 "make class"
  [[ -z $err ]] || show "make class: it should say nothing on stderr"
  expect '^ada .* 04 done$' "a learner who is done"
  expect '^annie .* 04 sum_is_not_set$' "a wrong one"
  expect '^[A-Z]  04 sum_is_not_set: ' "the mistakes"
  expect '^   A kernel adds to a sum that nothing has set to 0 before\.' "the teacher's sentence"
  expect '^   The sweep goes over the boundary as if it were interior: it must keep its$' "its words for a whole class"
  if LC_ALL=C.UTF-8 grep -E '^.{81}' <<<"$out"; then fail "the board: these lines have more than 80 columns"; fi
  expect '^[A-Z]  01 unknown: 1 person$' "a mistake that the catalogue does not have"
  expect '^wendy: results/local/progress\.tsv: a symbolic link, which is not followed$' "a symbolic link"
  expect_no $'\033|root:' "no codes for the terminal, and nothing of /etc/passwd"
  # What a name has in it is text.
  grep -qF '&lt;img src=x onerror=' "$page" || fail "the page should have the name, escaped"
  if grep -nE '<img|<script|<b>now|root:x' "$page"; then fail "the page has what is a learner's"; fi
  grep -qF '<meta http-equiv="refresh" content="5">' "$page" || fail "the page should reload itself"
  if grep -nE 'https?://|src=[^x]|url\(' "$page"; then fail "the page loads something"; fi

  # Files of make handin, good and broken.
  mkdir "$temp/files"
  printf '# handin\tJacobi porting lab\n# name\tBob <i>\n01_nvtx\twrong\t2026-01-01 10:11\tcpu\twrong_update\t2.5\n' >"$temp/files/bob"
  printf '# handin\t\n# name\t\033[31mEve\n01_nvtx\tdone\tnow\tcpu\t-\t1e999\n' >"$temp/files/eve"
  head -c 3000000 /dev/zero >"$temp/files/zeros"
  printf 'hello\n' >"$temp/files/other"
  mkfifo "$temp/files/pipe"
  ln -s /etc/passwd "$temp/files/link"
  run make_in "$source_dir" class DIR="$temp/files" ONCE=1
  expect_status 0 "files of make handin"
  expect '^Bob <i> .* 10:11 01 wrong_update  \(01: 2\.50 ms\)$' "a file of make handin"
  expect '^\?\[31mEve .*✓' "a name with codes for the terminal"
  expect '^zeros: .*has more than 1 MiB$' "a large file"
  expect '^other: no working copy, and no file of make handin$' "another file"
  expect '^pipe: pipe is no file$' "a pipe"
  expect '^link: a symbolic link, which is not followed$' "a link"

  mkdir "$temp/empty"
  run make_in "$source_dir" class DIR="$temp/empty" ONCE=1 OUT="$temp/page"
  said_one_line '^board\.py: DIR=.*/empty: no working copy of the lab is in it' "an empty folder"
  [[ ! -e $temp/page ]] || fail "an empty folder: there should be no page"
  refuses '^board\.py: DIR=.*: is a working copy itself' run make_in "$source_dir" class DIR="$source_dir" ONCE=1
  # In a low terminal the heading stays, and learners take turns.
  run timeout --foreground -s INT 4 script -qec "stty rows 14 cols 80; make -C '$source_dir' class DIR=\"$class\"" /dev/null
  expect '^ +00 01 .*  last check' "on a terminal"
  expect '^learners 1 to 5 of [0-9]+; the others in turn' "on a terminal"
  expect '^Ctrl-C ends this' "on a terminal"

  refuses '^board\.py: which class\? Say DIR=FOLDER' run make_in "$source_dir" class
  refuses '^board\.py: DIR=.*: is no folder$' run make_in "$source_dir" class DIR="$temp/none"
  class OUT=/proc/board.html
  expect '^board\.py: OUT=/proc/board\.html: cannot be written: ' "OUT where nothing can be written"
  refuses '^board\.py: INTERVAL=x: ' class INTERVAL=x
}

# graded NAME STEP VERDICT: a regular expression of the row's end.
graded() {
  grep -qE -- "^$1,$2,$3,[0-9]+\$" "$temp/grades.csv" || fail "grades: $1 should have $2,$3" "$(grep -E -- "^$1," "$temp/grades.csv")"
}

test_grade() {
  local begun=$SECONDS name
  if [[ $size == small ]]; then
    export STEPS=01
    mkdir "$temp/graded"
    for name in alan cleve sophie wendy; do cp -a "$class/$name" "$temp/graded/"; done
    class=$temp/graded
    # Files of make handin, with code and without.
    for name in bob eve; do
      printf '# handin\tJacobi porting lab\n# name\t%s\n01_nvtx\twrong\t-\tcpu\t-\t-\n' "$name" >"$class/$name.tsv"
    done
    { printf '# code\texercises/01_nvtx/jacobi.cpp\n' && sed 's/^/> /' "$class/alan/exercises/01_nvtx/jacobi.cpp"; } >>"$class/bob.tsv"
    echo hello >"$class/notes"
  fi
  # A folder for which ninja is not taken, so make builds, as on a machine without ninja; and no build fails.
  mkdir -m 711 "$temp/it's for make" "$temp/tools"
  cat >"$temp/tools/cmake" <<END
#!/usr/bin/env bash
"$(type -P cmake)" "\$@" || { status=\$?; echo "\$*" >>"$temp/failed"; exit \$status; }
END
  chmod +x "$temp/tools/cmake"
  PATH=$temp/tools:$PATH TMPDIR="$temp/it's for make" TIME_LIMIT=$(patience 5) \
    grade CHECK_LIMIT="$(patience 75)" DISK=60
  expect_status 0 "make grade"
  expect '^Learners.? programs run as (nobody|you), with(out)? a network\.$' "make grade"
  [[ $(head -n 1 "$temp/grades.csv") == learner,step,verdict,diagnosis,ms,seconds ]] || fail "grades: another head"
  graded alan 01_nvtx wrong,boundary_is_swept,
  graded cleve 01_nvtx unchanged,,
  graded sophie 01_nvtx 'exceeded its limit: processes,,'
  graded wendy 01_nvtx '"cannot be read: .*",,'
  if [[ $size == small ]]; then
    graded bob 01_nvtx wrong,boundary_is_swept,
    graded eve 01_nvtx 'cannot be read: its code was not handed in: make handin CODE=1,,'
    expect '^left out: notes: no working copy, and no file of make handin$' "another file"
    expect '^1/3  alan  01_nvtx  wrong  boundary_is_swept' "how far it is"
    expect 'grades\.csv: 6 rows: .*2 wrong' "how many there are"
  else
    graded ada 01_nvtx 'done,,'
    graded evelyn 01_nvtx 'does not compile,does_not_compile,'
    graded tim 01_nvtx 'exceeded its limit: disk,,'
    graded victor 01_nvtx 'does not compile,does_not_compile,'
    graded "'=1\\+2;rm \\*" 01_nvtx 'wrong,[a-z_]*,'
    # shellcheck disable=SC2016
    graded '"\$\(touch ran\)`touch ran`'"'"'"";"' 01_nvtx 'wrong,[a-z_]*,'
    graded annie 04_jacobi_kernel 'wrong,[a-z_]+,'
    graded grace 04_jacobi_kernel '(right|done),,'
    [[ $(cut -d , -f 1 "$temp/grades.csv" | sort -u | wc -l) == 31 ]] || fail "grades: there should be thirty learners"
  fi
  if [[ $size == small && -e $temp/failed ]]; then fail "grades: these builds failed:" "$(<"$temp/failed")"; fi
  [[ -z $(find "$source_dir" "$temp" -name ran) ]] || fail "a name was run"
  [[ -z $(pgrep -f "jacobi-grade-.*/bin/exercise" || true) ]] || fail "programs of learners are left"
  unset STEPS
  refuses '^grade\.py: STEPS=77: ' run make_in "$source_dir" grade DIR="$class" STEPS=77
  refuses '^grade\.py: STEPS=04_x: ' run make_in "$source_dir" grade DIR="$class" STEPS=04_x
  mkdir "$temp/no learner"
  before_grades=$(<"$temp/grades.csv")
  run make_in "$source_dir" grade DIR="$temp/no learner" OUT="$temp/grades.csv"
  said_one_line '^grade\.py: DIR=.*: no working copy of the lab is in it' "no learner"
  refuses '^grade\.py: DIR=.*: is a working copy itself' run make_in "$source_dir" grade DIR="$source_dir"
  mkdir "$temp/folder"
  refuses '^grade\.py: OUT=.*/folder: is no file$' grade OUT="$temp/folder"
  [[ ! -e $temp/folder.part && ! -e $temp/grades.csv.part ]] || fail "grades: half a table was left"
  [[ $(<"$temp/grades.csv") == "$before_grades" ]] || fail "the grades of before should be there"
  grade STEP=01 OUT=/proc/x.csv
  expect '^grade\.py: OUT=/proc/x\.csv: cannot be written' "OUT is tried before anything is built"
  expect_no 'Building' "OUT is tried before anything is built"
  refuses '^grade\.py: which class\? Say DIR=FOLDER' run make_in "$source_dir" grade
  graded_in=$((SECONDS - begun))
}

if [[ $size == small ]]; then test_board; fi
test_grade
[[ $(sums) == "$before" ]] || fail "a working copy was changed"
finish "the board, and the grades of $(find "$class" -mindepth 1 -maxdepth 1 | wc -l) learners in $graded_in s"
