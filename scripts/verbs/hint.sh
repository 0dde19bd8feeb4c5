#!/usr/bin/env bash
# Prints the hints of a step's guide, one at a time. `make hint STEP=NN` calls it.
#
#   STEP=NN   the step
#   CLINIC=NAME  or the kernel of the clinic
#   HINT=K    the hint of that number; the next call prints the one after it
#   HINT=all  all of them
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib/lib.sh"
source "$lab_root/scripts/lib/guides.sh"

read_step_or_kernel
wanted=${HINT:-next}
[[ $wanted =~ ^(next|all|[0-9]{1,3})$ ]] || die $exit_bad_usage "HINT=$wanted: must be a number, or all"
find_guide
read -r _ count _ < <(guide_tool list) || exit 1
read_terminal
if ((count == 0)); then
  [[ $wanted == next || $wanted == all ]] || die $exit_bad_usage "HINT=$wanted: $guide has no hints"
  say "$step: its guide has no hints"
  exit
fi

if [[ $wanted == all ]]; then
  for ((k = 1; k <= count; ++k)); do
    ((k == 1)) || say ""
    say "$step: hint $k of $count"
    in_terminal hint --hint "$k"
  done
  exit
fi

last=$(recall hints.tsv "$step")
# Who has edited that file begins again.
[[ $last =~ ^[0-9]{1,3}$ ]] || last=0
if [[ $wanted == next ]]; then
  k=$((10#$last + 1))
  if ((k > count)); then
    if ((count == 1)); then said="the one hint"; else said="all $count hints"; fi
    say "$step: you have seen $said"
    say "Once more from the first: make hint $step_words HINT=1"
    exit
  fi
else
  k=$((10#$wanted))
  ((k >= 1 && k <= count)) || die $exit_bad_usage "HINT=$wanted: $step has hints 1 to $count"
fi

say "$step: hint $k of $count"
in_terminal hint --hint "$k"
remember hints.tsv "$step" "$k"
say ""
if ((k < count)); then
  say "The next one: make hint $step_words"
else
  say "That was the last one. From the first: make hint $step_words HINT=1"
fi
