#!/usr/bin/env bash
# run_tests.sh COMPILER features|errors|counts: builds the programs of that folder with the compiler
# and runs them.
#
#   features   programs that are right: in every order, with one worker and four, and watched they
#              say nothing
#   errors     programs that are wrong: what they say on stderr is what their first lines expect
#   counts     programs whose loads, stores and conflicts are known
#
# The programs stay in CUDA_ON_CPU_TEST_DIR: what is up to date is not built again. The exit code is 0 (all is right), 1
# (it is not, and what is wrong stands on stdout) or 77 (it cannot run here, and says why).
set -euo pipefail
# shellcheck source=lab/cpu/tests/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

compiler=${1:?COMPILER features|errors|counts}
group=${2:?COMPILER features|errors|counts}
unset "${!LAB_CPU_@}" LAB_NVTX LAB_TRACE_TSV LAB_REPORT CXX CXXFLAGS LDFLAGS
need "$compiler" cmake addr2line
jobs=$(nproc)
programs=${CUDA_ON_CPU_TEST_DIR:?a folder to build in}/$(basename "$compiler")

# Two tests of one compiler share the folder.
build() {
  mkdir -p "$programs"
  exec 9>"$programs/lock"
  if command -v flock >/dev/null; then flock 9; fi
  local generator=()
  if [[ ! -f $programs/CMakeCache.txt ]] && command -v ninja >/dev/null; then
    generator=(-G Ninja)
  fi
  run cmake -S "$tests_dir/programs" -B "$programs" "${generator[@]}" \
    -DCMAKE_CXX_COMPILER="$compiler"
  ((status == 0)) || {
    show "the project of the programs cannot be configured"
    finish
  }
  run cmake --build "$programs" --parallel "$jobs" --target "$group"
  ((status == 0)) || {
    show "the programs cannot be built"
    finish
  }
  if grep -q "warning:" <<<"$said"; then show "the compiler warns"; fi
  exec 9>&-
}

# ---- features ----------------------------------------------------------------------------------

# run_feature PROGRAM NAME=VALUE...: runs it; what it says, and how it ended, goes to a file of its
# own.
run_feature() {
  local program=$1 status=0 said
  shift
  said=$(env "$@" timeout "$(patience 60)" "$programs/$program" 2>&1 </dev/null) || status=$?
  if ((status != 0)) || [[ -n $said ]]; then
    printf '%s %s: exit code %d\n%s\n' "$*" "$program" "$status" "${said:0:2000}"
  fi >"$temp/$program.$(tr -c 'a-zA-Z0-9\n' _ <<<"$*").wrong"
}

# in_parallel FUNCTION: calls it with the words of each line of stdin, so many at a time as there
# are cores.
in_parallel() {
  local line
  while IFS= read -r line; do
    while (($(jobs -rp | wc -l) >= jobs)); do wait -n || true; done
    # shellcheck disable=SC2086  # the line is words
    "$1" $line &
  done
  wait
}

features() {
  local source name order workers count=0
  for source in "$tests_dir"/features/*.cu; do
    name=features_$(basename "$source" .cu)
    for order in forward reverse shuffled; do
      for workers in 1 4; do
        printf '%s LAB_CPU_ORDER=%s LAB_CPU_WORKERS=%s\n' "$name" "$order" "$workers"
      done
    done
    printf '%s LAB_CPU_ORDER=forward\n' "${name}_watched"
    printf '%s LAB_CPU_ORDER=reverse\n' "${name}_watched"
  done >"$temp/runs"
  in_parallel run_feature <"$temp/runs"
  for wrong in "$temp"/*.wrong; do
    if [[ -s $wrong ]]; then fail "$(head -n 1 "$wrong")" "$(tail -n +2 "$wrong")"; fi
  done
  count=$(wc -l <"$temp/runs")

  # The ranges in the trace.
  run env LAB_TRACE_TSV="$temp/ranges.tsv" "$programs/features_nvtx_ranges"
  expect_status 0 "NVTX"
  said=$(awk -F '\t' '$1 == "nvtx" { print $3, $2 }' "$temp/ranges.tsv")
  for range in "1 outer" "1 inner" "3 in a loop" "1 number 2" \
    "3 function_with_range" "1 to the end" "1 coloured" "1 with attributes"; do
    expect "^$range$" "the NVTX ranges in the trace"
  done

  # What the trace counts of the host's accesses.
  local host_accesses=$tests_dir/features/host_accesses.cu
  run env LAB_TRACE_TSV="$temp/trace.tsv" "$programs/features_host_accesses_watched"
  expect_status 0 "accesses of the host"
  words "$host_accesses" accesses | tr -s ' ' | sed 's/^/host_accesses.cu:/' >"$temp/expected"
  awk -F '\t' '$1 == "host accesses" { print $2, $3 }' "$temp/trace.tsv" | sort >"$temp/counted"
  if ! diff "$temp/expected" "$temp/counted" >"$temp/difference"; then
    fail "host_accesses.cu: other accesses (< expected, > counted)" "$(grep '^[<>]' "$temp/difference")"
  fi
  run env LAB_TRACE_TSV="$temp/trace.tsv" "$programs/features_copies_of_rows"
  expect_status 0 "copies of rows"
  run awk -F '\t' '$1 == "waits" { waits += $3 } END { print waits + 0 }' "$temp/trace.tsv"
  if [[ $out != "$(words "$tests_dir/features/copies_of_rows.cu" waits)" ]]; then
    fail "copies_of_rows.cu: it waits $out times"
  fi
  finish "$count runs of $(basename "$compiler")'s programs"
}

# ---- errors ------------------------------------------------------------------------------------

# words FILE NAME: what stands behind `// NAME: ` in its first lines, a line each. A line that
# begins with more blanks goes on with the one before. @name stands for the number of the line with
# // @name.
words() {
  awk -v start="// $2: " '
    !/^\/\// { exit }
    index($0, start) == 1 {
      printf "%s%s", (count++ ? "\n" : ""), substr($0, length(start) + 1)
      goes_on = 1
      next
    }
    goes_on && sub(/^\/\/   +/, " ") { printf "%s", $0; next }
    { goes_on = 0 }
    END { if (count) print "" }' "$1" |
    sed -f <(grep -nE '// @[a-z_]+$' "$1" | sed -E 's,^([0-9]+):.*// @([a-z_]+)$,s/@\2\\b/\1/g,')
}

# Its environment is that of its `// env: ` lines; with a line `// also: ` it says the same once more, with what stands
# there added.
check_error() {
  local source=$1 also
  check_error_in "$source"
  also=$(words "$source" also)
  if [[ -n $also ]]; then check_error_in "$source" "$also"; fi
}

# check_error_in SOURCE [NAME=VALUE]
check_error_in() {
  local source=$1 name variant code env expected lines
  name=$(basename "$source" .cu)
  # One of the two may not be told enough, and then says nothing.
  grep -qE -- "^($(words "$source" compiler))" <<<"$(basename "$compiler")" || return 0
  variant=$(words "$source" variant)
  code=$(words "$source" exit)
  mapfile -t env < <(words "$source" env)
  # Of several workers any may come first to where a block fails.
  env=(LAB_CPU_WORKERS=1 LAB_REPORT="$temp/report.tsv" "${env[@]}" "${@:2}")
  : >"$temp/report.tsv"
  mapfile -t expected < <(words "$source" expect)
  ((${#expected[@]} > 0)) || fail "$name: its first lines expect nothing"
  case ${variant:=plain} in
    compile)
      run compile_one "$source"
      code=1
      ;;
    plain) run env "${env[@]}" timeout "$(patience 60)" "$programs/errors_$name" ;;
    watched) run env "${env[@]}" timeout "$(patience 60)" "$programs/errors_${name}_$variant" ;;
    *) fail "$name: no such variant: $variant" ;;
  esac
  expect_status "${code:-3}" "$name"
  [[ $variant == compile || -z $out ]] || show "$name: something on stdout"
  check_report "$name"
  for line in "${expected[@]}"; do
    grep -qE -- "$line" <<<"$err" || show "$name: no line on stderr matches '$line'"
  done
  # All of it stands in one line.
  lines=$(grep -c . <<<"$err") || true
  [[ $variant == compile ]] || ((lines == ${#expected[@]})) ||
    show "$name: $lines lines on stderr, not ${#expected[@]}"
}

# What this project says itself, with the program's name before it, it also reports: the line in words and in columns.
check_report() {
  local last=${err##*$'\n'} words
  if [[ $last != "errors_$1"*": "* ]]; then return 0; fi
  words=${last#errors_"$1"*: }
  awk -F '\t' -v words="$words" '
    { kind = $1; place = $2 ":" $3; has_place = $3 > 0; said = $NF; columns = NF }
    END { exit !(kind != "" && columns == 18 && said == words && (!has_place || index(words, place ": ") == 1)) }
  ' "$temp/report.tsv" || show "$1: its report is another: $(tail -n 1 "$temp/report.tsv")"
}

# compile_one FILE: compiles a program that is not to compile.
compile_one() {
  "$programs/cuda_on_cpu/filter/cuda_to_cpp" "$1" "$temp/wrong.cpp" &&
    "$compiler" -std=c++17 -O1 -I "$tests_dir" -isystem "$tests_dir/../include" -isystem "$tests_dir/../formats" \
      -c "$temp/wrong.cpp" -o "$temp/wrong.o"
}

errors() {
  local source count=0
  for source in "$tests_dir"/errors/*.cu; do
    check_error "$source"
    count=$((count + 1))
  done
  finish "the messages of $count programs by $(basename "$compiler")"
}

# ---- counts ------------------------------------------------------------------------------------

counts() {
  local source name count=0
  for source in "$tests_dir"/counts/*.cu; do
    name=$(basename "$source" .cu)
    run env LAB_CPU_COUNTS="$temp/$name.tsv" timeout "$(patience 60)" "$programs/counts_${name}_watched"
    expect_status 0 "$name"
    [[ -z $said || $said == $'\n' ]] || show "$name: it says something"
    # Both as LINE SPACE ACCESS BYTES REQUESTS THREADS SECTORS WAVEFRONTS CONFLICTS ADDRESSES MOST.
    words "$source" count | tr -s ' ' | sort >"$temp/expected"
    awk -F '\t' -v file="$name.cu" '$1 == file {
        print $2, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14
      }' "$temp/$name.tsv" | sort >"$temp/counted"
    if ! diff "$temp/expected" "$temp/counted" >"$temp/difference"; then
      fail "$name.cu: other counts (< expected, > counted)" "$(grep '^[<>]' "$temp/difference")"
    fi
    count=$((count + $(wc -l <"$temp/expected")))
  done

  # addr2line is told the program's own path, whatever the folder is called, and no shell reads it.
  local odd="$temp/it's; touch pwned; 'y \$HOME \"a  b\""
  mkdir "$odd"
  cp -L "$programs/counts_launches_watched" "$odd"
  cd "$temp"
  run env LAB_CPU_COUNTS="$temp/odd.tsv" "$odd/counts_launches_watched"
  expect_status 0 "in a folder with an odd name"
  cmp -s "$temp/odd.tsv" "$temp/launches.tsv" ||
    fail "other counts in a folder with an odd name" "$(diff "$temp/odd.tsv" "$temp/launches.tsv")"
  [[ ! -e $temp/pwned && ! -e pwned ]] || fail "a shell read the folder's name"
  finish "$count counts of $(basename "$compiler")'s programs"
}

case $group in
  features | errors | counts) ;;
  *)
    printf '%s: neither features nor errors nor counts\n' "$group" >&2
    exit 1
    ;;
esac
build
"$group"
