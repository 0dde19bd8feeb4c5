#!/usr/bin/env bash
# Puts a step's exercise back as it was handed out, and keeps your version next to it. `make reset STEP=NN` calls it.
#
#   STEP=NN   the step
#   CLINIC=NAME  or the kernel of the clinic
#   YES=1     do not ask first
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib/lib.sh"

read_step_or_kernel
check_switches YES
exercise=exercises/$step/$step_source
cd "$lab_root"
# Next to the file: what is moved to its place is there completely, or not at all.
{ mkdir -p "${exercise%/*}" && start=$(mktemp "$exercise.kept-new-XXXXXX"); } 2>/dev/null ||
  die $exit_cannot_write "${exercise%/*}: cannot be written"
trap 'rm -f "$start"' EXIT
scripts/lib/start.sh "$step" >"$start" || exit

if [[ ! -e $exercise ]]; then
  chmod 644 "$start"
  mv "$start" "$exercise"
  say "$exercise was gone, and is there again as it was handed out"
  exit
fi
if cmp -s "$start" "$exercise"; then
  say "$exercise is as it was handed out: nothing to do"
  exit
fi

number=1
while [[ -e $exercise.kept-$number ]]; do number=$((number + 1)); done
kept=$exercise.kept-$number
if ((!${YES:-0})); then
  [[ -t 0 ]] || die $exit_bad_usage "there is no terminal to ask on: YES=1 puts $exercise back"
  say "$exercise will be as it was handed out."
  say "What you have written is kept in $kept."
  read -r -p 'Type "yes": ' answer || answer=""
  if [[ $answer != yes ]]; then
    say "nothing was changed"
    exit 1
  fi
fi
cp -p "$exercise" "$kept"
chmod --reference="$exercise" "$start"
mv -f "$start" "$exercise"
say "$exercise is as it was handed out. Yours is kept:"
say "  $kept"
