#!/usr/bin/env bash
# Prints a step's guide with its folds closed, on a terminal through a pager. `make guide STEP=NN`
# calls it.
#
#   STEP=NN     the step
#   CLINIC=NAME   or the kernel of the clinic
#   SHOW=WORD   only the sections of that word, their folds open: hints, predictions, questions, measured,
#               answer, more
#   SHOW=K      only the fold of that number
#   SHOW=all    the whole guide, all folds open
#   PAGER       the pager (default: less -FRX, or none if less is missing)
#   COLUMNS     the width, if it is less than 80
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib/lib.sh"
source "$lab_root/scripts/lib/guides.sh"

read_step_or_kernel
find_guide
read -r folds _ words < <(guide_tool list) || exit 1
show=""
if [[ -n ${SHOW:-} ]]; then
  # "hint" and "Hints" are also accepted.
  for word in all $words; do
    if ((${#SHOW} >= 3)) && [[ $word == "${SHOW,,}"* ]]; then show=$word; fi
  done
  if [[ $SHOW =~ ^[0-9]{1,3}$ ]] && ((10#$SHOW >= 1 && 10#$SHOW <= folds)); then show=$((10#$SHOW)); fi
  ((folds)) || [[ -n $show ]] || die $exit_bad_usage "SHOW=$SHOW: $guide has no folds"
  [[ -n $show ]] || die $exit_bad_usage "SHOW=$SHOW: must be a fold, 1 to $folds, or one of: ${words:+$words }all"
fi

read_terminal
text=$(in_terminal show --show "$show") || exit 1
if [[ -z $show ]] && ((folds)); then
  text+=$'\n\n'$(printf '%s\n' \
    "The parts [1] to [$folds] are folded. To open one: make guide $step_words SHOW=1." \
    "SHOW=all opens all of them. SHOW=WORD opens those of one section; the words are ${words// /, }." |
    in_terminal text)
fi
if [[ ! -t 1 ]]; then
  say "$text"
  exit
fi
pager=${PAGER:-}
if [[ -z $pager ]]; then
  pager="cat"
  if command -v less >/dev/null; then pager="less -FRX"; fi
fi
# The text as a file, so that leaving the pager early is no error.
sh -c "$pager" <<<"$text"
