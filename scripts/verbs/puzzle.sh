#!/usr/bin/env bash
# Hands out a wrong program as a bug hunt, and checks it. `make puzzle STEP=NN` calls it. The list is
# exercises/puzzles.tsv, the programs are patches of validate/tests/bank: of bank/wrong, and what is right and slow of
# bank/right. They run on the CPU.
#
#   STEP=NN      the step
#   PUZZLE=K     which of its puzzles (default: 1)
#   YES=1        replaces a puzzle of the step that has been handed out before
#   CHECK=1      checks the puzzle that was handed out
#   HINT=1       the same, with the diagnosis
#   ANSWER=A     of a mystery, whose program is not shown: which of the answers fits its profile
#   LAB_PUZZLES  the folder of puzzles (default: build/puzzles)
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib/lib.sh"
source "$lab_root/scripts/lib/own_program.sh"
source "$lab_root/scripts/lib/look.sh"
puzzles=$lab_root/exercises/puzzles.tsv

# read_puzzle K: sets patch, difficulty, symptom, answer and bank to those of the step's puzzle K.
read_puzzle() {
  local line
  line=$(awk -F '\t' -v step="$step_number" -v k="$1" '$1 == step && ++n == k' "$puzzles")
  [[ -n $line ]] || die $exit_bad_usage "PUZZLE=$1: step $step_number has $count puzzles"
  IFS=$'\t' read -r _ patch difficulty symptom answer <<<"$line"
  bank=wrong
  if [[ -f $lab_root/validate/tests/bank/right/$step/$patch.patch ]]; then bank=right; fi
}

# make_program FILE: writes the puzzle's program.
make_program() {
  need_commands patch
  patch --silent --fuzz=0 -o "$1" "$lab_root/solutions/$step/$step_source" \
    "$lab_root/validate/tests/bank/$bank/$step/$patch.patch" >/dev/null || die 1 "puzzle $patch of step $step_number does not apply"
}

# build_puzzle FILE: makes $temp/program and $temp/program_watched of it, for the CPU.
build_puzzle() {
  FILE=$1 FILES="" INCLUDE=$lab_root/lab/include read_own_files "make puzzle"
  cd "$lab_root"
  configure >/dev/null
  build_targets lab || die 1 "the lab does not build; its messages are above"
  for variant in "" _watched; do
    build_own_for_cpu "$variant" "-DLAB_STEP_NAME=\"$step\"" "$build_dir/lab/liblab.a"
  done
}

# show_profile: what the puzzle's program does, without its lines.
show_profile() {
  need_python
  make_scratch
  make_program "$temp/mystery.cu"
  build_puzzle "$temp/mystery.cu"
  local -a run=(--n 256 --iterations 4 --quiet)
  LAB_CPU_COUNTS=$temp/counts "$temp/program_watched" "${run[@]}" || true
  LAB_TRACE_TSV=$temp/trace "$temp/program" "${run[@]}" || true
  say "4 iterations at n = 256:"
  labtool profilers.run_tables trace "$temp/trace" | sed '/^Times of kernels/d'
  labtool profilers.run_tables counts "$temp/counts" --n 256
}

# mysteries: the answers of all mysteries, with letters.
mysteries() {
  awk -F '\t' '$3 == "mystery" { sub(/\. .*/, ".", $5); printf "  %c  %s\n", 65 + n++, $5 }' "$puzzles"
}

# solved K: says what the mistake of puzzle K was, and how to get the next one.
solved() {
  say_wrapped "Solved. $answer"
  if (($1 < count)); then say "The next one: make puzzle STEP=$step_number PUZZLE=$(($1 + 1)) YES=1"; fi
}

# answer_mystery: says whether $ANSWER is the one that was handed out.
answer_mystery() {
  local right
  [[ -f $folder/mystery ]] || die $exit_bad_usage "no mystery of step $step_number is handed out: make puzzle STEP=$step_number PUZZLE=K"
  read_puzzle "$(<"$folder/mystery")"
  right=$(mysteries | grep -F "  ${answer%%. *}" | cut -c 3)
  if [[ $right == "$ANSWER" ]]; then
    solved "$(<"$folder/mystery")"
  else
    say "Not solved: another answer fits the profile better."
    return 1
  fi
}

# hand_out K: writes the puzzle's program, and notes which one it is.
hand_out() {
  read_puzzle "$1"
  mkdir -p "$folder"
  if [[ $difficulty == mystery ]]; then
    say "Puzzle $1 of $count of step $step_number, a mystery: only its profile is shown"
    say "  Symptom: $symptom"
    show_profile
    printf '%s\n' "$1" >"$folder/mystery"
    say "Which program is it? make puzzle STEP=$step_number ANSWER=A, or another letter:"
    mysteries | cut -c 1-80
    return
  fi
  if [[ -e $file && ${YES:-} != 1 ]]; then
    die $exit_bad_usage "${file#"$lab_root"/} is there already; YES=1 replaces it"
  fi
  make_program "$file.new"
  mv "$file.new" "$file"
  printf '%s\n' "$1" >"$folder/number"
  say "Puzzle $1 of $count of step $step_number: ${file#"$lab_root"/}"
  say "  Kind: $difficulty"
  say "  Symptom: $symptom"
  if [[ $bank == wrong ]]; then
    say "Find the mistake and correct it in that file. Then: make puzzle STEP=$step_number CHECK=1"
  else
    say "The field and the residual are right. Find what makes it slow, and correct it in that file."
    say "Then: make puzzle STEP=$step_number CHECK=1"
  fi
}

# check: says whether the program is right; if it is, what the mistake was.
check() {
  local number said not_solved="the program is still wrong. HINT=1 prints what the check says." status=0
  [[ -f $file && -f $folder/number ]] || die $exit_bad_usage "no program of step $step_number is handed out: make puzzle STEP=$step_number (a mystery has none; ANSWER= is for it)"
  number=$(<"$folder/number")
  [[ ${PUZZLE:-$number} == "$number" ]] || die $exit_bad_usage "PUZZLE=$PUZZLE: the program that is handed out is that of puzzle $number"
  read_puzzle "$number"
  make_scratch
  build_puzzle "$file"
  build_targets validate goals || die 1 "the validator does not build; its messages are above"
  read_look "$step_number" 0
  said=$("$build_dir/bin/validate" --name "the puzzle" --source "$file" --every-order --watched "$temp/program_watched" \
    --look-at "$look_points" --look-sweeps "$look_sweeps" --time-limit 120 "$temp/program") || status=$?
  if ((status == 0)) && [[ $bank == right ]]; then
    not_solved="it is right, and as slow as before. HINT=1 prints what it should do."
    said=$("$build_dir/bin/goals" --name "$step" --watched "$temp/program_watched" "$temp/program") || status=$?
  fi
  if ((status == 0)); then
    solved "$number"
  elif ((status == 1)) && [[ ${HINT:-} != 1 ]]; then
    say "Not solved: $not_solved"
  else
    say_wrapped "$said"
  fi
  return "$status"
}

read_step "${STEP-}"
check_switches CHECK HINT YES
[[ ${PUZZLE:-1} =~ ^[1-9][0-9]?$ ]] || die $exit_bad_usage "PUZZLE=$PUZZLE: must be a number, from 1 up"
[[ -d $lab_root/validate/tests/bank/wrong && -d $lab_root/solutions ]] ||
  die $exit_bad_usage "puzzles are in the whole lab, not in a handout"
count=$(awk -F '\t' -v step="$step_number" '$1 == step { ++n } END { print n + 0 }' "$puzzles")
((count)) || die $exit_bad_usage "STEP=$STEP: has no puzzles; the steps that have: $(awk -F '\t' '/^[0-9]/ && !seen[$1]++ { printf "%s ", $1 }' "$puzzles")"
folder=${LAB_PUZZLES:-$build_dir/puzzles}/$step_number
file=$folder/$step_source
if [[ -n ${ANSWER:-} ]]; then
  [[ ${#ANSWER} == 1 && $(mysteries | cut -c 3) == *"$ANSWER"* ]] || die $exit_bad_usage "ANSWER=$ANSWER: must be one of the letters"
  answer_mystery
elif [[ ${CHECK:-} == 1 || ${HINT:-} == 1 ]]; then
  check
else
  hand_out "${PUZZLE:-1}"
fi
