#!/usr/bin/env bash
# A ladder that is interrupted has said what it measured, and leaves an earlier one as it is.
set -euo pipefail
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
expect '^00_serial .* right .* ms/iter at n = 64$' "the step that was measured"
[[ $(ls "$temp") == $'err\nladder.tsv\nout' ]] || fail "nothing else should be left:" "$(ls "$temp")"
[[ $(<"$temp/ladder.tsv") == "an earlier one" ]] || fail "an earlier ladder should stay as it is"

run "$ladder" --steps 00 --results "$temp"
expect_status 0 "a whole run"
grep -q '^00_serial' "$temp/ladder.tsv" || fail "a whole run writes the ladder"
finish "an interrupted ladder"
