#!/usr/bin/env bash
# Prints a step's exercise as it was handed out. `make check`, `diff`, `reset`, `progress` and `handout` ask it.
#
#   start.sh NN          the text; of a kernel of the clinic: start.sh clinic/transpose
#   start.sh --unchanged NN...
#                        the names of those steps whose exercise is as it was handed out
#   start.sh --keep      where git does not know the lab: keeps a copy of each in .start/
#
# A handout has a copy of every exercise in .start/, with their checksums. In a clone git has it: the newest commit
# counts in which the exercise is the solution before it, a banner and TODO blocks apart (what scripts/publish/exercises.py
# holds), so that what a learner commits does not count; of the clinic's kernels lab/clinic.tsv has checksums. In the whole lab without git, such as a downloaded archive,
# a copy that was kept counts, or the file itself, if it is still so.
# shellcheck disable=SC2317  # handed_out calls its readers by their names
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

what=text
if [[ ${1-} == --unchanged || ${1-} == --keep ]]; then
  what=${1#--}
  shift
fi

# read_exercise STEP
read_exercise() {
  case $1 in
    clinic/*) STEP="" CLINIC=${1#clinic/} read_step_or_kernel ;;
    *) CLINIC="" read_step "$1" ;;
  esac
  exercise=exercises/$step/$step_source
  copy=.start/$step/$step_source
}

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
from_commit() { git -C "$lab_root" cat-file blob "$commit:./$1"; }
from_tree() { cat "$lab_root/$1"; }
from_copy() { from_tree "${1/#exercises/.start}"; }

# handed_out READER: whether that reader's exercise is as one is handed out.
handed_out() {
  local text
  if [[ $step == clinic/* ]]; then
    [[ $("$1" "$exercise" | tr -d '\r' | sha256sum) == "$kernel_sum"* ]]
    return
  fi
  text=$("$1" "$exercise") || return 1
  # The first step has no task: it is its own solution.
  if [[ -z $step_before ]]; then
    cmp -s <("$1" "$exercise") <("$1" "solutions/$step/$step_source")
  else
    [[ $text == *"// TODO($step_number)"* ]] &&
      cmp -s <("$1" "$exercise" | bare "$step_number") <("$1" "solutions/$step_before/$step_before_source" | bare "")
  fi
} 2>/dev/null

# answer_if_it_is READER: if it is, prints that, and ends.
answer_if_it_is() {
  if ! handed_out "$1"; then return; fi
  "$1" "$exercise"
  exit
}

# in_git: whether git knows the lab's files; else git_said is why not.
in_git() {
  git_said="git is not installed"
  command -v git >/dev/null && git_said=$(cd "$lab_root" && git ls-files --error-unmatch lab/steps.tsv 2>&1 >/dev/null)
}

if [[ $what == keep ]]; then
  if in_git || [[ -e $lab_root/.git || ! -d $lab_root/solutions ]]; then exit; fi
  # Whether it is as handed out is asked when the copy is read.
  cd "$lab_root/exercises"
  { mkdir ../.start && cp --parents [0-9]*/jacobi.c{pp,u} clinic/*/kernel.cu ../.start; } 2>/dev/null || true
  exit
fi

if [[ $what == unchanged ]]; then
  for name in "$@"; do
    read_exercise "$name"
    # In most cases the file itself tells. Otherwise what it began with is looked for.
    if handed_out from_tree || "$0" "$name" 2>/dev/null | cmp -s - "$lab_root/$exercise"; then say "$step"; fi
  done
  exit
fi

read_exercise "${1-}"
if [[ -f $lab_root/.start/SHA256SUMS ]] || [[ -d $lab_root/.start && ! -d $lab_root/solutions ]]; then
  (cd "$lab_root" && grep -sF "  $copy" .start/SHA256SUMS | sha256sum --check --status 2>/dev/null) ||
    die 1 "$copy is missing, or was changed since the handout was made: unpack the handout again"
  exec cat "$lab_root/$copy"
fi

if in_git; then
  # Also the solution's path: a change in two commits is complete with the later one.
  solution=solutions/${step_before:-$step}/${step_before_source:-$step_source}
  while read -r commit; do
    answer_if_it_is from_commit
  done < <(git -C "$lab_root" rev-list HEAD -- "./$exercise" "./$solution" 2>/dev/null)
fi
answer_if_it_is from_tree
answer_if_it_is from_copy
if [[ -e $lab_root/.git && -n $git_said ]]; then
  way_out=""
  if [[ $git_said == *safe.directory* ]]; then way_out=" (git config --global --add safe.directory '$lab_root')"; fi
  die 1 "$exercise: only git knows how it was handed out, and it says: ${git_said%%$'\n'*}$way_out"
fi
die 1 "$exercise: nothing here says how it was handed out: no git history of the lab, and no copy in .start"
