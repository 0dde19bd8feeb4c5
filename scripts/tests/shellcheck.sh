#!/usr/bin/env bash
# Every shell script is clean under shellcheck, those that it sources included.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$source_dir"
need shellcheck

mapfile -t scripts < <(tracked_files | grep -E '^scripts/.*\.(sh|sbatch)$')
# An unpacked archive may be without it.
if [[ -f .ci/run ]]; then scripts+=(.ci/run); fi
if ! complaints=$(shellcheck -x "${scripts[@]}"); then fail "shellcheck complains:" "$complaints"; fi
for script in "${scripts[@]}"; do
  # What is sourced says so in its first line.
  [[ -x $script || $(head -n 1 "$script") == "# shellcheck shell=bash" ]] || fail "$script: cannot be executed (chmod +x)"
done
finish "${#scripts[@]} scripts"
