#!/usr/bin/env bash
# Writes one small file that says how far the learner is, for the teacher. `make handin` calls it.
#
#   OUT=FILE    where to (default: handin-NAME.tsv in the build folder)
#   NAME=WORDS  whose it is (default: the user's name; of root and such, with the machine's)
#   CODE=1      with the exercises that were edited; without it the file has no code
#
# The table says what `make progress` shows: step, state, date of the last check, where it ran, the mistake's name in the
# catalogue, and ms per iteration if they were measured.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib/lib.sh"

check_switches CODE
name=${NAME:-$(id -un 2>/dev/null || id -u)}
# Many are called so, in containers and virtual machines; a number is a user's who has no name.
if [[ -z ${NAME:-} && $name =~ ^(root|ubuntu|debian|user|student|vagrant|[0-9]+)$ ]]; then name+=@$(uname -n); fi
[[ ${#name} -le 60 && $name != *[[:cntrl:]]* ]] ||
  die $exit_bad_usage "NAME: must be one line of at most 60 characters"
out=${OUT:-$build_dir/handin-${name//[![:alnum:]_.-]/_}.tsv}
[[ $out == /* ]] || out=$lab_root/$out
[[ ! -d $out ]] || die $exit_bad_usage "OUT=$out: is a folder"
if [[ -z ${OUT:-} ]]; then mkdir -p "$build_dir" 2>/dev/null || true; fi

need_python
table=$(labtool progress table)
text=$(
  printf '# handin\tJacobi porting lab\n# name\t%s\n# date\t%s\n' "$name" "$(date '+%Y-%m-%d %H:%M')"
  printf 'step\tstate\tdate\twhere\tmistake\tms\n%s\n' "$table"
  if ((${CODE:-0})); then
    while IFS=$'\t' read -r step state _; do
      if [[ $state == unchanged || $state == "no task" || $state == missing ]]; then continue; fi
      read_step "$step"
      printf '# code\texercises/%s\n' "$step/$step_source"
      awk '{ print "> " $0 }' "$lab_root/exercises/$step/$step_source"
    done <<<"$table"
  fi
)
# Only a whole file gets the name.
partial=$out.$$
trap 'rm -f "$partial"' EXIT
{ printf '%s\n' "$text" >"$partial" && mv -f "$partial" "$out"; } 2>/dev/null ||
  die $exit_cannot_write "OUT=$out: cannot be written"
say "$out"
say "  $(grep -c $'^[0-9][0-9]_' <<<"$table") steps of $name, $(wc -c <"$out") bytes. Give this file to your teacher."
if [[ -z ${NAME:-} ]]; then say "  (Another name: NAME=ada)"; fi
