#!/usr/bin/env bash
# A ladder that is interrupted keeps what it has measured, in a file of its own: an earlier ladder stays as it is. The
# next whole run takes that file away.
set -euo pipefail
# shellcheck source=scripts/tests/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_build
ladder=$build_dir/bin/ladder
for program in ladder solution_00_serial solution_01_nvtx; do
  [[ -x $build_dir/bin/$program ]] || skip "$build_dir/bin/$program has not been built"
done
make_temp

echo "an earlier one" >"$temp/ladder.tsv"
"$ladder" --steps 00,01 --results "$temp" >"$temp/out" 2>"$temp/err" &
pid=$!
for ((k = 0; k < 600; ++k)); do
  if grep -qs '^00_serial ' "$temp/out"; then break; fi
  sleep 0.1
done
kill -TERM "$pid"
status=0
wait "$pid" || status=$?
said=$(cat "$temp/out" "$temp/err")
expect_status 143 "an interrupted ladder"
expect '^ladder: interrupted$' "an interrupted ladder"
expect '^written to .*/ladder.interrupted.tsv$' "an interrupted ladder"
[[ $(<"$temp/ladder.tsv") == "an earlier one" ]] || fail "an earlier ladder should stay as it is"
grep -qP '^00_serial\t.*\tright\t64\t[0-9]' "$temp/ladder.interrupted.tsv" ||
  fail "the step that was measured should stand in ladder.interrupted.tsv" "$(cat "$temp"/ladder.interrupted.tsv)"
if grep -q '^01_nvtx' "$temp/ladder.interrupted.tsv"; then fail "the step under way has no row yet"; fi

run "$ladder" --steps 00 --results "$temp"
expect_status 0 "a whole run"
grep -q '^00_serial' "$temp/ladder.tsv" || fail "a whole run writes the ladder"
[[ ! -e $temp/ladder.interrupted.tsv ]] || fail "a whole run takes the interrupted one's rows away"
finish "an interrupted ladder"
