#!/usr/bin/env bash
# The program bandwidth: bad usage is refused; without a GPU it says so and leaves nothing behind; with one its table
# has every measurement, and the ceilings stand in their order.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_build
program=$build_dir/bin/bandwidth
[[ -x $program ]] || skip "$program is not built: there is no nvcc"
make_temp

# refused CODE REGEX ARGUMENT...
refused() {
  run "$program" "${@:3}"
  one_line "$1" "$2" "bandwidth ${*:3}"
}
refused 2 '^bandwidth: --fast: no such option' --fast
refused 2 '^bandwidth: --results: needs a value' --results
run "$program" --help
expect_status 0 "bandwidth --help"

run "$program"
if ((status == 77)); then
  refused 77 '^bandwidth: no ' --results "$temp/new"
  [[ ! -e $temp/new ]] || fail "without a GPU nothing should be written"
  export LAB_BUILD_DIR=$build_dir
  run "$source_dir/scripts/verbs/measure/bandwidth.sh"
  expect_status 77 "make bandwidth without a GPU"
  [[ $(grep -c '' <<<"$err") == 1 ]] || show "make bandwidth without a GPU: there should be one line on stderr"
  finish "what bandwidth refuses (there is no GPU to measure)"
  exit 0
fi
expect_status 0 "bandwidth"
expect $'^driver\t.+$' "the lines that the ladder reads"
expect $'^copy_library\t[0-9.]+\t[0-9.]+\t[0-9.]+\t21$' "the lines that the ladder reads"
expect $'^copy_float4\t[0-9.]+\t[0-9.]+\t[0-9.]+\t21$' "the lines that the ladder reads"

printf 'a file\n' >"$temp/file"
refused 4 '^bandwidth: --results .*/file/x: ' --results "$temp/file/x"
run "$program" --results "$temp/new"
expect_status 0 "bandwidth --results"
awk -F '\t' '
  /^# ceiling/ { ceiling[$2] = $3; next }
  /^#/ { next }
  !columns { columns = NF; next }
  NF != columns || $7 < 10 || $8 <= 0 || $9 < $8 || $11 <= 0 || $10 < $11 { print "not right: " $0; bad = 1 }
  { ++rows[$1 " " $2] }
  END {
    if (rows["size copy_library"] < 8 || rows["size copy_float4"] != rows["size triad"]) { print "sizes"; bad = 1 }
    if (rows["block copy_kernel"] != 12 || rows["block triad"] != 6) { print "blocks"; bad = 1 }
    if (rows["host to_gpu_pinned"] < 5 || rows["cache l1_read"] != 1) { print "host, caches"; bad = 1 }
    if (!(ceiling["to_gpu"] < ceiling["dram"] && ceiling["dram"] < ceiling["l2"] && ceiling["l2"] < ceiling["l1"])) {
      print "ceilings: " ceiling["dram"], ceiling["l2"], ceiling["l1"]; bad = 1
    }
    exit bad
  }' "$temp/new/bandwidth.tsv" >"$temp/wrong" || fail "bandwidth.tsv" "$(<"$temp/wrong")"
finish "what bandwidth measures, and what it refuses"
