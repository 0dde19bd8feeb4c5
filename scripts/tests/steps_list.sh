#!/usr/bin/env bash
# lab/steps.tsv is the one list of steps: every step in it has its folders and its row in README.md, and
# no other file holds a list of its own.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$source_dir"

number=0
while IFS=$'\t' read -r step source needs n iterations title before rest; do
  if [[ -z $step || $step == \#* ]]; then continue; fi
  [[ $step =~ ^[0-9]{2}_[a-z0-9_]+$ ]] || fail "$step: a name should be like 04_jacobi_kernel"
  [[ $step == "$(printf '%02d' $number)"_* ]] || fail "$step: its number should be $number"
  number=$((number + 1))
  [[ $source =~ ^jacobi\.(cpp|cu)$ ]] || fail "$step: the source file should be jacobi.cpp or jacobi.cu"
  [[ $needs =~ ^(cpu|cuda|ranks)$ ]] || fail "$step: needs cpu, cuda or ranks, not '$needs'"
  [[ $n =~ ^[1-9][0-9]*$ ]] || fail "$step: the default n is '$n'"
  [[ $iterations =~ ^[1-9][0-9]*$ ]] || fail "$step: the number of iterations is '$iterations'"
  [[ -n $title && -n $before && -z $rest ]] || fail "$step: has not seven columns"
  # The ladder's first column has room for so many.
  ((${#title} <= 20)) || fail "$step: its title is longer than 20 characters: $title"
  # A handout is without solutions, and without the later exercises.
  if [[ -d solutions ]]; then
    for kind in exercises solutions; do
      [[ -f $kind/$step/$source ]] || fail "$step: $kind/$step/$source is missing"
    done
  fi
  grep -qsF "$step" README.md || fail "$step: README.md does not name it"
done <lab/steps.tsv
((number > 0)) || fail "lab/steps.tsv lists no step"

# Three names of steps in one file are a list. Pages for people, tests and results may have one.
while IFS= read -r file; do
  names=$(grep -oE '\b[0-9]{2}_[a-z][a-z0-9_]*' "$file" | sort -u | grep -xF -f <(cut -f 1 lab/steps.tsv) ||
    true)
  count=$(grep -c . <<<"$names" || true)
  ((count < 3)) || fail "$file: has a list of steps of its own (${names//$'\n'/, })"
done < <(tracked_files | grep -E '^(scripts|lab|validate)/|^Makefile$|^CMakeLists\.txt$' |
  grep -vE '/tests/|\.md$|^lab/steps\.tsv$')

finish "$number steps, and one list of them"
