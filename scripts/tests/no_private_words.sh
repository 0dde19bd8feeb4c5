#!/usr/bin/env bash
# No file names a folder of the machine that it was written on.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$source_dir"

# An absolute path: what stands before it does not belong to it.
before='(^|[^[:alnum:]_./}>-])'
private="$before/(work|root|farm)/|$before/home/[[:alnum:]_.-]+/"
mapfile -t files < <(tracked_files)
((${#files[@]} > 0)) || fail "no file was found at all"
if found=$(grep -nIE -- "$private" "${files[@]}" /dev/null); then
  fail "paths that exist on one machine only:" "${found//$'\n'/$'\n'        }"
fi
finish "${#files[@]} files"
