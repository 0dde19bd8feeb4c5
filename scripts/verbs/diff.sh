#!/usr/bin/env bash
# Shows how a step's exercise and its solution differ. `make diff STEP=NN` calls it.
#
#   STEP=NN         the step
#   CLINIC=NAME     or the kernel of the clinic
#   FROM=, TO=      what is compared (default: FROM=exercise TO=solution):
#     exercise        the exercise, as you have it now
#     start           the exercise, as it was handed out
#     solution        the solution
#     before          the solution of the previous step
#   SIDE=1          side by side, as wide as the terminal (or COLUMNS)
#
# Lines of code are shown whole, up to 100 columns, because a line that is cut or broken could not be copied.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib/lib.sh"

read_step_or_kernel
check_switches SIDE
make_scratch

# find_version VARIABLE WHAT: sets path and label.
find_version() {
  case $2 in
    exercise) label=exercises/$step/$step_source ;;
    solution) label=solutions/$step/$step_source ;;
    before)
      [[ -n $step_before ]] || die $exit_bad_usage "$1=before: $step is the first step"
      label=solutions/$step_before/$step_before_source
      ;;
    start)
      path=$temp/start label="exercises/$step/$step_source (as handed out)"
      "$lab_root/scripts/lib/start.sh" "$step" >"$path" || exit
      return
      ;;
    *) die $exit_bad_usage "$1=$2: must be exercise, start, solution or before" ;;
  esac
  path=$lab_root/$label
  if [[ -f $path ]]; then return; fi
  [[ $label != exercises/* ]] || die $exit_bad_usage "$label is not there (make reset $step_words puts it back)"
  [[ -d $lab_root/solutions ]] || die $exit_bad_usage \
    "a handout has no solutions; what you have changed: make diff $step_words FROM=start TO=exercise"
  die $exit_bad_usage "$label is not there"
}
find_version FROM "${FROM:-exercise}"
from=$path from_label=$label
find_version TO "${TO:-solution}"
to=$path to_label=$label

# compare OPTION...: diff, for which it is no failure that two files differ.
compare() { diff --strip-trailing-cr "$@" "$from" "$to" || (($? == 1)); }

differ=$(compare --brief) || die 1 "diff failed; its messages are above"
if [[ -z $differ ]]; then
  say "$step: no difference between $from_label and $to_label"
  exit
fi

if ((${SIDE:-0})); then
  width=${COLUMNS:-}
  # The shell hands no COLUMNS down; the terminal knows.
  exec 3>&1
  if [[ -z $width && -t 3 ]]; then width=$(stty size <&3 2>/dev/null | awk '{ print $2 }') || true; fi
  if ! [[ $width =~ ^[1-9][0-9]{1,3}$ ]]; then width=160; fi
  # As diff lays its columns out.
  right=$(((width + 4) / 2))
  printf '%-*.*s%.*s\n' "$right" $((right - 3)) "$from_label" $((width - right)) "$to_label"
  compare --side-by-side --expand-tabs --width="$width"
  longest=$(expand "$from" "$to" | awk '{ if (length($0) > n) n = length($0) } END { print n + 0 }')
  if (((width - 4) / 2 < longest)); then
    say "Cut at $width columns; $((2 * longest + 4)) show all of it, and so does make diff without SIDE=1."
  fi
  exit
fi

colour=never
if [[ -t 1 && -z ${NO_COLOR:-} && ${TERM:-dumb} != dumb ]]; then colour=always; fi
compare --unified --color="$colour" --label "$from_label" --label "$to_label"
