#!/usr/bin/env bash
# `make watch` on a terminal of 24 lines: what its screen shows as the file is saved, its keys, and that nothing is left.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need make cmake git python3
[[ -d $source_dir/solutions ]] || skip "there are no solutions here"
make_temp
unset RANKS BACKEND RACES
mkdir "$temp/tmp"
use_built
export TMPDIR=$temp/tmp LAB_BUILD_DIR="$temp/the build"
lab="$temp/the learner's lab"
make_clone "$lab"
# Of two steps, so that there is a last one.
sed -i '/^0[2-9]_/d; /^[1-9]/d' "$lab/lab/steps.tsv"
commit_all "$lab" "two steps"

run python3 -W error "$source_dir/scripts/tests/watch_terminal.py" "$lab" "$(patience 20)"
[[ $status == 0 && -z $out$err ]] || show "on a terminal"
for ((k = 0; k < 50; ++k)); do
  pgrep -f "$temp" >/dev/null || break # make may be gone before what it called
  sleep 0.1
done
[[ -z $(ls -A "$temp/tmp") ]] || fail "files were left behind:" "$(ls -A "$temp/tmp")"
[[ -z $(pgrep -f "$temp" || true) ]] || fail "programs still run:" "$(pgrep -af "$temp")"

# Bad input.
watch() { run make_in "$lab" watch "$@"; }
refuses '^watch.sh: this needs a terminal; make check STEP=NN checks once$' watch
refuses '^watch.sh: STEP=42: there is no such step' watch STEP=42
refuses '^watch.sh: BACKEND=tpu: must be gpu or cpu$' watch STEP=01 BACKEND=tpu
finish "make watch"
