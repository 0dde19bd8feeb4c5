#!/usr/bin/env bash
# The reader of records, fuzzed by clang's libFuzzer under AddressSanitizer and UndefinedBehaviorSanitizer:
# whatever bytes a learner's program leaves in a record, the validator neither crashes nor hangs.
#
#   LAB_FUZZ_SECONDS=S    for so long (default 30)
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need clang++
need_build
make_temp
program=$build_dir/bin/solution_00_serial
[[ -x $program ]] || skip "$program is not built"
seconds=${LAB_FUZZ_SECONDS:-30}

flags=(-std=c++17 -O1 -g1 "-fsanitize=fuzzer,address,undefined" "-fno-sanitize-recover=undefined"
  -I"$source_dir/lab/include" -I"$source_dir/validate")
if ! printf 'extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }\n' |
  clang++ "${flags[@]}" -x c++ - -o "$temp/probe" 2>/dev/null; then
  skip "clang++ has no libFuzzer here"
fi
clang++ "${flags[@]}" "$source_dir/validate/tests/unit/fuzz_record.cpp" "$source_dir"/validate/run/{record,text}.cpp \
  -o "$temp/fuzz" || fail "the fuzzer does not build"

# Seeds: true records, so that most of the inputs are nearly right.
mkdir "$temp/seeds"
for kind in full rows; do
  "$program" --n 3 --iterations 4 --problem probe --quiet --record "$temp/record" --record-field $kind
  touch "$temp/record/field.f32"
  {
    cat "$temp/record/run.json"
    printf '\0'
    cat "$temp/record/residuals.csv"
    printf '\0'
    cat "$temp/record/field.f32"
  } >"$temp/seeds/$kind"
done
cd "$temp"
# The files in memory, where there is such a folder, and of this run alone.
export LAB_FUZZ_DIR=$temp/record
if [[ -w /dev/shm ]]; then
  LAB_FUZZ_DIR=$(mktemp -d /dev/shm/fuzz-record-XXXXXX)
  trap 'rm -rf "$temp" "$LAB_FUZZ_DIR"' EXIT
fi
status=0
./fuzz -max_total_time="$seconds" -timeout=10 -max_len=4096 -print_final_stats=1 seeds >log 2>&1 || status=$?
((status == 0)) || fail "an input was found that the reader does not survive:" "$(tail -n 30 log)"
runs=$(sed -n 's/^stat::number_of_executed_units: *//p' log)
((${runs:-0} > 1000)) || fail "only ${runs:-0} inputs were tried in $seconds s" "$(tail -n 5 log)"
finish "$runs inputs in $seconds s"
