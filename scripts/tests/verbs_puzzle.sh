#!/usr/bin/env bash
# `make puzzle` hands out wrong programs and slow ones, and keeps the answer until the program is right and fast.
# That the patches of the bank compile and are wrong is what the tests catalogue_NN and wrong_NN hold.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need make patch python3
need_build
make_temp
list=$source_dir/exercises/puzzles.tsv

# The list.
lines=0
while IFS=$'\t' read -r number patch difficulty symptom answer; do
  lines=$((lines + 1))
  solution=$(echo "$source_dir"/solutions/"$number"_*/jacobi.cu)
  step=$(basename "$(dirname "$solution")")
  bank=wrong
  if [[ $difficulty == "right and slow" || ! -f $source_dir/validate/tests/bank/wrong/$step/$patch.patch ]]; then bank=right; fi
  file=$source_dir/validate/tests/bank/$bank/$step/$patch.patch
  if [[ $bank == right ]]; then grep -qx '# goal: missed' "$file" || fail "$number $patch: misses no goal"; fi
  patch --silent --fuzz=0 -o "$temp/wrong.cu" "$solution" "$file" >/dev/null 2>&1 ||
    fail "$number $patch: does not apply"
  case $difficulty in
    crash | "wrong everywhere" | "wrong at an edge" | "wrong residual" | "a race that may hide" | "right and slow" | mystery) ;;
    *) fail "$number $patch: no such difficulty: $difficulty" ;;
  esac
  ((${#symptom} <= 60)) || fail "$number $patch: the symptom has more than 60 characters"
  [[ $answer == *. ]] || fail "$number $patch: no explanation"
done < <(grep -v '^#' "$list")
((lines >= 40)) || fail "the list has only $lines puzzles"

# A puzzle, from start to end. The programs of the build are used, and the puzzle is made in a folder of the test's.
export LAB_BUILD_DIR=$build_dir LAB_PUZZLES=$temp/puzzles
puzzle() { run make --no-print-directory -C "$source_dir" puzzle "$@"; }
puzzle STEP=04
expect_status 0 "puzzle"
expect 'Puzzle 1 of [0-9]+ of step 04: ' "puzzle"
expect 'Symptom: some points keep' "puzzle"
expect_no 'rounded|diagnosis' "puzzle"
file=$temp/puzzles/04/jacobi.cu
refuses 'is there already; YES=1 replaces it$' puzzle STEP=04
puzzle STEP=04 CHECK=1
expect_status 2 "an unsolved puzzle"
expect '^Not solved: ' "an unsolved puzzle"
expect_no 'rounded|diagnosis|96' "an unsolved puzzle"
refuses 'PUZZLE=2: the program that is handed out is that of puzzle 1$' puzzle STEP=04 PUZZLE=2 CHECK=1
puzzle STEP=04 HINT=1
expect '^  diagnosis: the sweep leaves out' "HINT=1"
expect_no 'Solved' "HINT=1"
cp "$source_dir/solutions/04_jacobi_kernel/jacobi.cu" "$file"
puzzle STEP=04 CHECK=1
expect_status 0 "a solved puzzle"
expect '^Solved\. The launch grid is rounded down' "a solved puzzle"
expect '^The next one: make puzzle STEP=04 PUZZLE=2 YES=1$' "a solved puzzle"

# Right, and slow.
number=$(awk -F '\t' '$1 == "08" { ++n; if ($3 == "right and slow") print n }' "$list")
puzzle STEP=08 PUZZLE="$number"
expect '^The field and the residual are right\.' "a slow puzzle"
puzzle STEP=08 CHECK=1
expect_status 2 "a slow puzzle"
expect '^Not solved: it is right, and as slow as before\.' "a slow puzzle"
puzzle STEP=08 HINT=1
expect 'Goal MISSED' "HINT=1 for a slow puzzle"
cp "$source_dir/solutions/08_cub_reduction/jacobi.cu" "$temp/puzzles/08/jacobi.cu"
puzzle STEP=08 CHECK=1
expect_status 0 "a slow puzzle that is solved"
expect '^Solved\. Every thread adds its own sum' "a slow puzzle that is solved"

# A mystery: its profile, and no line of it.
mystery=$(awk -F '\t' '$1 == "04" { ++n; if ($2 == "one_thread") print n }' "$list")
refuses 'no mystery of step 04 is handed out' puzzle STEP=04 ANSWER=A
puzzle STEP=04 PUZZLE="$mystery"
expect_status 0 "a mystery"
expect '^ +4  1x1x1 +1x1x1 ' "a mystery's launches"
expect '^ +loads: +4\.[0-9]+ per point, 1\.00 sectors per request' "a mystery's counts"
expect_no 'idx\(|<<<' "a mystery"
letter=$(sed -nE 's/^  ([A-Z])  One thread performs the whole sweep\.$/\1/p' <<<"$out")
[[ -n $letter ]] || show "a mystery: its answer is not among the answers"
other=A
if [[ $letter == A ]]; then other=B; fi
puzzle STEP=04 ANSWER="$other"
expect_status 2 "a wrong answer"
expect_no 'thread' "a wrong answer"
puzzle STEP=04 ANSWER="$letter"
expect_status 0 "the right answer"
expect '^Solved\. One thread performs' "the right answer"
for bad in two Z a; do
  refuses "ANSWER=$bad: must be one of the letters$" puzzle STEP=04 ANSWER=$bad
done
[[ $(awk -F '\t' '$3 == "mystery" { sub(/\. .*/, "", $5); print $5 }' "$list" | sort | uniq -d) == "" ]] || fail "two mysteries have one answer"

refuses 'PUZZLE=99: step 04 has [0-9]+ puzzles$' puzzle STEP=04 PUZZLE=99
refuses 'PUZZLE=0: must be a number' puzzle STEP=04 PUZZLE=0
refuses 'STEP=01: has no puzzles' puzzle STEP=01
refuses 'no program of step 05 is handed out' puzzle STEP=05 CHECK=1
finish "$lines puzzles"
