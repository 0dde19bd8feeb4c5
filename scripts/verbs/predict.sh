#!/usr/bin/env bash
# Asks the questions of a guide's section "Predict", one after the other, and keeps the answers. Once the step is done it
# shows them beside the measured ones. `make predict STEP=NN` calls it.
#
#   STEP=NN   the step
#
# The answers stand in results/local/predictions.tsv: the step, then an answer for each question (- for none). Asked
# again it shows them; an empty line keeps an answer. Without a terminal it reads one answer per line from standard input.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib/lib.sh"
source "$lab_root/scripts/lib/guides.sh"

# ask NUMBER: reads an answer, and keeps it if it is another one than before. Fails at the end of the input.
ask() {
  local old=${answers[$1 - 1]} answer=""
  if [[ $old != - ]]; then say "   Your answer: $old"; fi
  if [[ -t 0 ]]; then
    IFS= read -r -e -p "   > " answer || return 1
  else
    IFS= read -r answer || [[ -n $answer ]] || return 1
  fi
  answer=$(tr -s '[:cntrl:]' ' ' <<<"$answer" | sed 's/^ *//; s/ *$//')
  if [[ -n $answer && $answer != "$old" ]]; then
    answers[$1 - 1]=$answer
    remember predictions.tsv "$step" "${answers[@]}"
  fi
}

# kept: how many answers there are, and to which questions there is none.
kept() {
  local k count=0
  local -a none=()
  for ((k = 1; k <= ${#asked[@]}; ++k)); do
    if [[ ${answers[k - 1]} == - ]]; then none+=("$k"); else count=$((count + 1)); fi
  done
  printf 'Answers kept: %d of %d' "$count" "${#asked[@]}"
  if ((${#none[@]} && count)); then printf ' (none to %s)' "$(IFS=, && printf '%s' "${none[*]}")"; fi
  printf '. make predict STEP=%s %s.\n' "$step_number" "$( ((${#none[@]})) && printf 'goes on' || printf 'asks again')"
}

read_step "${STEP-}"
find_guide
read_terminal
mapfile -t asked < <(guide_tool questions)
((${#asked[@]})) || die $exit_bad_usage "$guide has no questions to predict"
IFS=$'\t' read -r -a answers < <(recall predictions.tsv "$step") || true
for ((k = ${#answers[@]}; k < ${#asked[@]}; ++k)); do answers[k]=-; done

say "$step: ${#asked[@]} predictions. An empty line keeps an answer, Ctrl-C stops."
if [[ -t 0 ]]; then
  # Like Ctrl-D: as a signal it would also reach make, which complains.
  terminal=$(stty -g)
  trap 'stty "$terminal"' EXIT
  stty intr undef
  bind '"\C-c": "\C-a\C-k\C-d"' 2>/dev/null
fi
over=0
for ((k = 1; k <= ${#asked[@]}; ++k)); do
  say ""
  in_terminal text <<<"$k. ${asked[k - 1]}"
  if ((over)); then
    if [[ ${answers[k - 1]} != - ]]; then say "   Your answer: ${answers[k - 1]}"; fi
  else
    ask "$k" || over=1
    if ((over)) && [[ -t 0 ]]; then
      say ""
      break
    fi
  fi
done
say ""
if labtool progress "done" "$step"; then
  comparison
else
  kept
  say_wrapped "When the step is done, the measured answers are shown here. To see them now: make guide STEP=$step_number SHOW=predictions"
fi
