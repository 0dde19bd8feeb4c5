#!/usr/bin/env bash
# Prints a step's exercise as it was handed out. `make diff`, `make reset`, `make progress` and `make handout`
# ask it.
#
#   start.sh NN          the text
#   start.sh --from NN   where it was found, in place of the text: .start, a commit's id, or "file"
#
# A handout keeps a copy of every exercise in .start/. In a clone git has it: the newest commit counts in which
# the exercise is the solution before it, a banner and TODO blocks apart (what scripts/exercises.py holds), so
# that what a learner commits does not count. Where there is neither, the file itself will do if it is still so.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

what=text
if [[ ${1-} == --from ]]; then
  what=from
  shift
fi
read_step "${1-}"
exercise=exercises/$step/$step_source

# answer FROM COMMAND...: prints what was asked for, and ends.
answer() {
  if [[ $what == from ]]; then say "$1"; else "${@:2}"; fi
  exit
}

copy=.start/$step/$step_source
if [[ -d $lab_root/.start ]]; then
  (cd "$lab_root" && grep -sF "  $copy" .start/SHA256SUMS | sha256sum --check --status 2>/dev/null) ||
    die 1 "$copy is missing, or was changed since the handout was made: unpack the handout anew"
  answer .start cat "$lab_root/$copy"
fi

# bare NUMBER: stdin without the comment lines at its top and without its TODO(NUMBER) blocks.
bare() {
  awk -v number="$1" '
    { sub(/\r$/, "") }
    !body && /^\/\// { next }
    { body = 1 }
    number != "" && $0 ~ ("^[ \t]*// TODO\\(" number "\\)") { inside = 1; next }
    inside && /^[ \t]*\/\/   / { next }
    { inside = 0; print }'
}

# Readers; handed_out calls them by their names.
# shellcheck disable=SC2317
from_commit() { git -C "$lab_root" cat-file blob "$commit:./$1" 2>/dev/null; }
# shellcheck disable=SC2317
from_tree() { cat "$lab_root/$1" 2>/dev/null; }

# handed_out READER: whether that reader's exercise is as one is handed out.
handed_out() {
  local text
  text=$("$1" "$exercise") || return 1
  # The first step has no task: it is its own solution.
  if [[ -z $step_before ]]; then
    cmp -s <("$1" "$exercise") <("$1" "solutions/$step/$step_source")
  else
    [[ $text == *"// TODO($step_number)"* ]] &&
      cmp -s <("$1" "$exercise" | bare "$step_number") <("$1" "solutions/$step_before/$step_before_source" | bare "")
  fi
}

# The solution's path, too: a change in two commits is whole with the later one.
solution=solutions/${step_before:-$step}/${step_before_source:-$step_source}
while read -r commit; do
  if handed_out from_commit; then answer "$commit" from_commit "$exercise"; fi
done < <(git -C "$lab_root" rev-list HEAD -- "./$exercise" "./$solution" 2>/dev/null)
if handed_out from_tree; then answer file from_tree "$exercise"; fi
die 1 "$exercise: nothing here says how it was handed out: no git history of the lab, and no handout's .start"
