#!/usr/bin/env bash
# The numbers in README.md and the guides are those of results/h200/ladder.tsv, and scripts/publish/tables.py
# notices where they are not.
#
#   numbers.sh          those of this tree
#   numbers.sh tables   what tables.py makes of other tables and texts
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need python3
[[ -d $source_dir/solutions ]] || skip "a handout has no published numbers"
make_temp

# What tables.py writes, and refuses, in a copy of the lab.
test_tables() {
  lab=$temp/lab
  copy_tree "$lab"
  sed -i '/ladder:begin/,/ladder:end/s/| 09_shared_tile .*/| 09_shared_tile | typed by hand |/' "$lab/README.md"
  run "$lab/scripts/publish/tables.py" --check
  expect_status 1 "a number typed by hand"
  expect "^README.md: its numbers are not the measured ones" "a number typed by hand"
  run "$lab/scripts/publish/tables.py" --write
  expect_status 0 "written anew"
  cmp -s "$lab/README.md" "$source_dir/README.md" || fail "--write does not bring README.md back"
  sed -i 's/measured:begin/measured:gone/' "$lab/exercises/05_copy_kernel/README.md"
  run "$lab/scripts/publish/tables.py" --check
  expect_status 1 "a guide without markers"
  expect "^exercises/05_copy_kernel/README.md: has no <!-- measured:begin -->" "a guide without markers"
  # What somebody noted of a row is told below the ladder.
  sed -i 's/measured:gone/measured:begin/' "$lab/exercises/05_copy_kernel/README.md"
  sed -i '/^# note\t/d; s/^step\ttitle\t/# note\trow 04 is a test\n&/' "$lab/results/h200/ladder.tsv"
  run "$lab/scripts/publish/tables.py" --write
  expect_status 0 "a ladder with a note"
  grep -q 'Note: row 04 is a test\.' "$lab/README.md" || fail "the ladder's note should be told"
  # The best code on all cores, where it was timed: a column, and what it took. Where it was not there is none.
  if grep -q 'cores' "$lab/README.md" && ! grep -q '^# all_cores' "$lab/results/h200/ladder.tsv"; then fail "all cores were not timed"; fi
  sed -i $'/^# all_cores/d; s/^step\ttitle\t/# all_cores\tn\t64\tthreads\t1\tms\t0.01\tq1\t0.01\tq3\t0.01\tsamples\t11\\\n# all_cores\tn\t2048\tthreads\t16\tms\t5\tq1\t4\tq3\t6\tsamples\t11\\\n&/' "$lab/results/h200/ladder.tsv"
  # A strided code that was not timed, and a step of another n whose previous step was not timed there.
  sed -i $'/^# serial\tstrided\tn\t8192\t/d; /^07_/s/\t[^\t]*\t[^\t]*\t$/\t-\t-\t/' "$lab/results/h200/ladder.tsv"
  run "$lab/scripts/publish/tables.py" --write
  expect_status 1 "a ladder with all cores, in which a number of guide 07 is missing"
  expect '^exercises/07_beyond_l2/README.md: .*x_before is no number$' "a number that is missing"
  has_line() { grep -qE -- "$2" "$lab/$1" || fail "$1 should have a line '$2':" "$(grep -A 40 -E 'ladder:begin|measured:begin' "$lab/$1")"; }
  has_line README.md '^\| step \| × best serial \| × all cores \| to the solution \|$'
  ms=$(awk -F '\t' '/^step\t/ { for (k = 1; k <= NF; ++k) c[$k] = k } /^05_/ { print $c["ms"] }' "$lab/results/h200/ladder.tsv")
  has_line README.md "^\| 05_copy_kernel .* \| $(awk -v ms="$ms" 'BEGIN { printf "%.3f", 5 / ms }') \|"
  # A code that is far slower needs no digits.
  has_line README.md '^\| 03_larger_grid \| < 0\.1 \| < 0\.1 \|'
  has_line README.md '^\| best code, all 16 cores \| 0.0100 \(1 thread\) \| not timed \| 5.00 \|( not timed \|)+$'
  has_line README.md '^\| step 00, strided \|.* \| not timed \| not timed \|$'
  has_line README.md '^\| 07_beyond_l2 .* \| – \(n\) \|'
  has_line README.md '^– \(n\): this step has another n'
  # What the guides show of what ncu counted: no more digits than it has, the previous step beside it (guide 04 has no such
  # table, so guide 05 compares with none).
  has_line exercises/05_copy_kernel/README.md '^Counted with ncu [0-9.]+ at n = 2048\.$'
  has_line exercises/05_copy_kernel/README.md '^\| per launch \| .jacobi_sweep_kernel. \| .copy_field_kernel. \|$'
  has_line exercises/05_copy_kernel/README.md '^\| DRAM, share of peak \| 0\.0[0-9]+ % \| 6\.[0-9]+ % \|$'
  has_line exercises/06_coalesced/README.md '^\| DRAM, share of peak \| 0\.0[0-9]+ % \| 0\.0[0-9]+ % \|$'
  # Guide 05 shows shares of the peak only, because later guides explain the other counters.
  has_line exercises/05_copy_kernel/README.md '^\| memory, share of peak \| 1\.[0-9]+ % \| 7[0-9]\.[0-9] % \|$'
  if sed -n '/measured:begin/,/measured:end/p' "$lab/exercises/05_copy_kernel/README.md" | grep -iE 'stall|occupancy|eligible|hits'; then
    fail "guide 05 shows counters that it does not explain"
  fi
  # A table has room in 80 columns: one per kernel if there are four, without a kernel that counts as in the previous step
  # (unless it is the only one), and with a template's name once.
  for kernel in jacobi_sweep copy_field; do
    has_line exercises/06_coalesced/README.md "^\| per launch \| .${kernel}_kernel. \| step 05: .${kernel}_kernel. \|$"
  done
  has_line exercises/08_cub_reduction/README.md '^Counted with ncu .* Left out, because within 1 % of step 07: .copy_field_kernel.\.$'
  has_line exercises/08_cub_reduction/README.md '^\| per launch \| .jacobi_sweep_kernel. \| step 07: .jacobi_sweep_kernel. \|$'
  has_line exercises/10_pointer_swap/README.md '^\| per launch \| .jacobi_sweep_kernel. \| step 09: .jacobi_sweep_kernel. \|$'
  has_line exercises/13_temporal_blocking/README.md '^\| .jacobi_pass_kernel., per launch \| .<16, 0>. \| .<16, 1>. \| step 12: .jacobi_sweep_kernel. \|$'
  has_line exercises/13_temporal_blocking/README.md '^A sweep of the solution takes 0\.[0-9]+ ms with .--check-every 16.\.$'
  # A row that is gone takes its figures with it.
  cp "$lab/results/h200/ladder.tsv" "$temp/ladder.tsv"
  sed -i '/^05_copy_kernel\t/d' "$lab/results/h200/ladder.tsv"
  run "$lab/scripts/publish/tables.py" --check
  expect_status 1 "a step without a row"
  expect '^exercises/05_copy_kernel/README.md: ladder\["05_copy_kernel"\].ms . ms: 0 rows of ladder have 05_copy_kernel; it should be one$' "a row that is gone"
  cp "$temp/ladder.tsv" "$lab/results/h200/ladder.tsv"

  # Of several GPUs one line tells what they were, so that a handout without these steps can leave it out. Rows of other GPUs
  # have their own, and without such rows there is none.
  has_line README.md '^Rows 14 and 15: 2 GPUs, one rank per GPU\. Their .* Step 14 is compared with step 13 on one GPU\.$'
  sed -i '/^15_/s/2 GPUs,/4 GPUs,/' "$lab/results/h200/ladder.tsv"
  run "$lab/scripts/publish/tables.py" --write
  has_line README.md '^Row 14: 2 GPUs, one rank per GPU\. Row 15: 4 GPUs, one rank per GPU\. Their '
  sed -i -E '/^1[45]_/d' "$lab/results/h200/ladder.tsv"
  run "$lab/scripts/publish/tables.py" --write
  if grep -n '^Rows* 1[45]' "$lab/README.md"; then fail "README.md has a note on steps 14 and 15, which were not timed"; fi
  cp "$temp/ladder.tsv" "$lab/results/h200/ladder.tsv"
  # A number within a sentence.
  sentence='It takes <!--= ladder["04"].ms / 2 | .2 ms -->1 ms<!--=-->, on <!--= h100.none["04"].ms -->2<!--=-->.'
  echo "$sentence" >>"$lab/exercises/README.md"
  run "$lab/scripts/publish/tables.py" --check
  expect_status 1 "numbers within a sentence"
  expect '^exercises/README.md: its numbers are not the measured ones; run .make tables.$' "a stale number"
  expect '^exercises/README.md: h100.none\["04"\].ms: there is no results/h100/none.tsv$' "a number of no table"
  run "$lab/scripts/publish/tables.py" --write
  ms=$(awk -F '\t' '$1 ~ /^step$/ { for (k = 1; k <= NF; ++k) c[$k] = k } $1 ~ /^04_/ { printf "%.0f", $c["ms"] / 2 }' \
    "$lab/results/h200/ladder.tsv")
  grep -qF -- "-->$ms ms<!--=-->, on" "$lab/exercises/README.md" || fail "half of step 04's time is $ms ms:" \
    "$(tail -n 1 "$lab/exercises/README.md")"
  # A number of a report of nsys.
  echo 'It takes <!--= nsys_10_n512["cudaLaunchKernel"].median_ns | duration -->1 µs<!--=-->.' >>"$lab/exercises/README.md"
  run "$lab/scripts/publish/tables.py" --write
  ns=$(awk -F , '$NF ~ /^cudaLaunchKernel/ { print $5 }' "$lab/results/h200/profiles/nsys_10_n512.csv")
  grep -qF -- "-->$(awk -v ns="$ns" 'BEGIN { printf "%.2f", ns / 1000 }') µs<!--=-->." "$lab/exercises/README.md" ||
    fail "a launch takes $ns ns by nsys:" "$(tail -n 1 "$lab/exercises/README.md")"
  # Of a time line the median of a kernel, and how long its stream had nothing to do before it; of ncu a kernel's numbers.
  reports=$lab/results/h200/profiles
  {
    echo 'Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name'
    echo '9.0,70,3,30.0,30.0,9,35,2.0,"exchange_kernel(float *)"'
    echo
    echo 'Start (ns),Duration (ns),GrdX,Strm,Name'
    for launch in 100,30,2,7 110,500,130,8 135,30,2,7 200,40,2,7; do echo "$launch,\"exchange_kernel(float *)\""; done
  } >"$reports/nsys_time_line.csv"
  echo 'It takes <!--= nsys_time_line["timeline", "grid=2"].median_ns -->1<!--=-->, <!--= nsys_time_line["timeline", "grid=2"].gap_ns -->1<!--=-->,' \
    '<!--= nsys_time_line["kernel"].min_ns -->1<!--=-->, <!--= nsys_time_line["kernel"].max_ns -->1<!--=--> and <!--= ncu_12["jacobi_sweep_kernel"].duration_ns -->1<!--=-->.' >>"$lab/exercises/README.md"
  run "$lab/scripts/publish/tables.py" --write
  said=$(tail -n 1 "$lab/exercises/README.md" | sed 's/<!--=[^>]*-->//g')
  [[ $said == 'It takes 30.0, 20.0, 9.00, 35.0 and 531,000.' ]] || fail "the numbers of a time line and of ncu:" "$said"
  # In a row of a table a bare | would end the cell.
  echo '| a | <!--= ladder["04"].ms | ms -->1 ms<!--=--> |' >>"$lab/exercises/README.md"
  run "$lab/scripts/publish/tables.py" --write
  tail -n 1 "$lab/exercises/README.md" | grep -q '^| a | <!--= ladder\["04"\].ms \\| ms -->[0-9.]* ms<!--=--> |$' ||
    fail "a number within a table:" "$(tail -n 1 "$lab/exercises/README.md")"
}

# What this tree says.
test_numbers() {
  run "$source_dir/scripts/publish/tables.py" --check
  expect_status 0 "the numbers of this tree"
  # Every right row of the published ladder has a time, and every step is in it, or a note says that it is not timed yet.
  awk -F '\t' '
    # Several GPUs have tables of their own, and so have cycles, which are no sweeps.
    /^1[6-9]/ { next }
    FNR == NR { if (/^[0-9]/ && $3 != "ranks") steps[$1] = 1; next }
    /^# note\tstep .* is not timed yet$/ { split($2, words, " "); untimed[words[2]] = 1; delete steps[words[2]] }
    /^[0-9]/ { if ($1 in untimed) { print $1 ": is timed, and a note says that it is not"; bad = 1 }
               if ($3 != "right" || $5 + 0 <= 0) { print $1 ": published, but not right and timed"; bad = 1 }
               delete steps[$1] }
    END { for (s in steps) { print s ": is not in the published ladder"; bad = 1 }; exit bad }
  ' "$source_dir/lab/steps.tsv" "$source_dir/results/h200/ladder.tsv" >"$temp/log" ||
    fail "results/h200/ladder.tsv" "$(<"$temp/log")"

  # After how many sweeps a run stops is the same everywhere: the texts' shares of a run count on it.
  library=${LAB_TEST_LIBRARY:-${build_dir:+$build_dir/lab/liblab.a}}
  if [[ -n $library && -e $library ]]; then
    read -r -a flags <<<"${LAB_TEST_CXX_FLAGS:-}"
    # Step 00 in row order, as n = 2048 takes half a minute otherwise.
    sed 's/std::size_t(i) \* n + j/std::size_t(j) * n + i/' "$source_dir/solutions/00_serial/jacobi.cpp" >"$temp/rows.cpp"
    "${LAB_TEST_CXX:-c++}" "${flags[@]}" -std=c++17 -O3 '-DLAB_STEP_NAME="00_serial"' -I"$source_dir/lab/include" \
      "$temp/rows.cpp" "$library" -o "$temp/rows" || fail "step 00 cannot be compiled"
    while read -r n sweeps; do
      run "$temp/rows" --n "$n"
      expect "^ *converged after $sweeps iterations:" "n = $n: the sweeps that guides 02 and 03 count on"
    done <<<$'64 730\n2048 181'
    # And so is the distance from the solution then, which guide 00 has in a table.
    for n in 64 256; do
      percent=$("$temp/rows" --n "$n" | sed -n 's/^ *exact solution  *\([0-9.]*\) %.*/\1/p')
      grep -q "^| 3\. distance .*${percent:-none} %" "$source_dir/exercises/00_serial/README.md" || fail "n = $n is $percent % away, not in guide 00"
    done
  fi
}

case ${1:-} in
  tables) test_tables ;;
  *) test_numbers ;;
esac
finish "the numbers in the texts are the measured ones"
