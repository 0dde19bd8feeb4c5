#!/usr/bin/env bash
# Prints the hints of a step's guide, one at a time. `make hint STEP=NN` calls it.
#
#   STEP=NN   the step
#   HINT=K    the hint of that number; the next call prints the one after it
#   HINT=all  all of them
set -euo pipefail
# shellcheck source=scripts/lib/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib/lib.sh"

read_step "${STEP-}"
wanted=${HINT:-next}
[[ $wanted =~ ^(next|all|[0-9]{1,3})$ ]] || die $exit_bad_usage "HINT=$wanted: must be a number, or all"
guide=exercises/$step/README.md
[[ -f $lab_root/$guide ]] ||
  die $exit_bad_usage "$guide is not there (git checkout ${guide%/*} brings it back)"

# hints WANT: that hint as it stands in the guide's section "## Hints", there in <details>; of 0, how many there are.
hints() {
  awk -v want="$1" '
    { sub(/\r$/, "") }
    /^ *(```|~~~)/ { code = !code }
    !code && /^##? / { section = ($0 ~ /^## Hints *$/) }
    !section || (!code && /^<details>$/) { next }
    !code && /<summary>/ {
      ++hints
      open = 1
      shown = blank = 0
      gsub(/^.*<summary>|<\/summary>.*$/, "")
      if (hints == want && sub(/^Hint [0-9]+: */, "")) print
      next
    }
    !code && /<\/details>/ { open = 0 }
    !open || hints != want { next }
    /^$/ { blank = shown; next }
    {
      if (blank) print ""
      blank = 0
      shown = 1
      print
    }
    END {
      if (!want) print hints + 0
      exit open || code
    }' "$lab_root/$guide" || die 1 "$guide: a hint in it has no end"
}
count=$(hints 0) || exit 1
if ((count == 0)); then
  [[ $wanted == next || $wanted == all ]] || die $exit_bad_usage "HINT=$wanted: $guide has no hints"
  say "$step: its guide has no hints"
  exit
fi

if [[ $wanted == all ]]; then
  for ((k = 1; k <= count; ++k)); do
    ((k == 1)) || say ""
    say "$step: hint $k of $count"
    hints "$k"
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
    say "Once more from the first: make hint STEP=$step_number HINT=1"
    exit
  fi
else
  k=$((10#$wanted))
  ((k >= 1 && k <= count)) || die $exit_bad_usage "HINT=$wanted: $step has hints 1 to $count"
fi

say "$step: hint $k of $count"
hints "$k"
remember hints.tsv "$step" "$k"
if ((k < count)); then
  say ""
  say "The next one: make hint STEP=$step_number"
else
  say ""
  say "That was the last one. Once more from the first: make hint STEP=$step_number HINT=1"
fi
