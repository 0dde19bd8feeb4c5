#!/usr/bin/env bash
# The files' form: C++ and CUDA code as clang-format lays it out, lines of at most 100 characters, no
# tabs, no blanks at a line's end, a newline at each file's end, and beside tests no more
# than 600 lines.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$source_dir"

need clang-format
# 14 is the oldest that this layout was tried with; older ones know less of C++17.
version=$(clang-format --version | sed -n 's/.*version \([0-9]*\).*/\1/p')
((${version:-0} >= 14)) || skip "clang-format ${version:-of unknown version} is older than 14"

# A learner's own edits are theirs to lay out.
mapfile -t files < <(comm -23 <(tracked_files | sort) <(edited_exercises | sort))

is_code() { [[ $1 =~ \.(cpp|h|hpp|cu|cuh)$ ]]; }

# report WHAT FILE GREP-ARGUMENT...: fails where grep finds something. In UTF-8, where a character may be
# several bytes.
report() {
  local what=$1 file=$2 lines
  shift 2
  lines=$(LC_ALL=C.UTF-8 grep -n "$@" -- "$file" | head -n 5 || true)
  [[ -z $lines ]] || fail "$file: $what" "${lines//$'\n'/$'\n'        }"
}

check_text() {
  local file=$1
  # Columns of a table are separated by tabs, and the last may be empty; a patch's context lines begin
  # with a blank, even the empty ones; a Makefile's recipes begin with a tab.
  case $file in
    *.tsv | *.patch | results/*/profiles/*.csv | scripts/tests/recorded/*) ;;
    Makefile) report "blanks at a line's end" "$file" -E '[[:blank:]]+$' ;;
    *)
      report "blanks at a line's end" "$file" -E '[[:blank:]]+$'
      report "tabs" "$file" $'\t'
      ;;
  esac
  if [[ -n $(tail -c 1 "$file") ]]; then fail "$file: no newline at its end"; fi
}

code=()
for file in "${files[@]}"; do
  # Files that are empty, or not text, have no form.
  LC_ALL=C grep -qI '' "$file" || continue
  check_text "$file"
  if is_code "$file"; then
    code+=("$file")
    [[ $file == */tests/* ]] || (($(grep -c '' "$file") <= 600)) || fail "$file: more than 600 lines: too many for one file"
    # The tables of mistakes, and of words, are laid out by hand.
    if [[ $file == validate/explain/mistakes/* || $file == validate/explain/words.cpp ]]; then
      report "lines of more than 120 characters" "$file" -E '^.{121}'
    else
      report "lines of more than 100 characters" "$file" -E '^.{101}'
    fi
  fi
done
((${#code[@]} > 0)) || fail "no C++ or CUDA file was found at all"

if ((${#code[@]} > 0)) && ! complaints=$(clang-format --dry-run -Werror "${code[@]}" 2>&1); then
  fail "clang-format would lay these out otherwise:" \
    "$(grep -E 'error:' <<<"$complaints" | head -n 20)" \
    "clang-format -i FILE mends a file"
fi
finish "${#files[@]} files, ${#code[@]} of them C++ or CUDA"
