#!/usr/bin/env bash
# The program goals, by what made-up runs say; and its bad usage.
#
#   goals.sh steps   the goals of each step, as far as they can be measured here: its solution reaches them, and the
#                    exercise as it is handed out, which is the solution of the step before, misses one
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need python3
need_build
make_temp
goals=$build_dir/bin/goals
[[ -x $goals ]] || skip "$goals is not there"

# measure STEP PROGRAM [WATCHED]
measure() {
  local step=$1 program=$2 watched=${3:-}
  local -a options=(--name "$step")
  if [[ -x $watched ]]; then options+=(--watched "$watched"); fi
  options+=(--ranks "1,2")
  if [[ -f $build_dir/lib/liblab_trace.so ]]; then options+=(--tracer "$build_dir/lib/liblab_trace.so"); fi
  run "$goals" "${options[@]}" "$program"
}

goals_of_steps() {
  # Steps whose exercise cannot be told from the solution without a GPU.
  local need_gpu=" 03 07 12 "
  local measured=0 before="" before_source="" step source needs number suffix program
  while IFS=$'\t' read -r step source needs _; do
    number=${step%%_*}
    suffix=""
    if [[ $needs != cpu ]]; then suffix=_cpu; fi
    program=$build_dir/bin/solution_$step$suffix
    if [[ -x $program && $number != 00 ]]; then
      measure "$step" "$program" "${program}_watched"
      expect_status 0 "the solution of $step"
      expect "^$step: (done|right; )" "the solution of $step"
      expect_no "(crashed|exit code|not built|Remark)" "the solution of $step"
      if [[ $need_gpu != *" $number "* ]]; then expect "Goal reached: " "the solution of $step"; fi

      # The step before, in this one's place.
      if [[ $need_gpu != *" $number "* && -x $before && ($source != *.cu || $before_source == *.cu) ]]; then
        measure "$step" "$before" "${before}_watched"
        expect_status 1 "$step, not begun"
        expect "Goal MISSED: " "$step, not begun"
        expect "^$step: right, but the step's goal is not reached$" "$step, not begun"
        measured=$((measured + 1))
      fi
    fi
    before=$program before_source=$source
  done < <(grep '^[0-9]' "$source_dir/lab/steps.tsv")
  ((measured >= 4)) || fail "only $measured steps could be held against the one before"
  finish "the goals of every step, and $measured exercises that miss theirs"
}
if [[ ${1:-} == steps ]]; then
  goals_of_steps
  exit
fi

# The verdict for scripts, and what is left to do: a TODO in the learner's file comes before "done".
if [[ -x $build_dir/bin/solution_02_unified_memory_cpu ]]; then
  told() { run "$goals" --name 02_unified_memory --verdict "$temp/verdict" --next "Next: go on." "$@"; }
  printf '// TODO(02): more\n' >"$temp/learner.cu"
  told --exercise "$temp/learner.cu" "$build_dir/bin/solution_02_unified_memory_cpu"
  expect '^02_unified_memory: right so far, and its goals are reached$' "a TODO that is left"
  expect '^  Next: the TODO\(02\) that are left\.$' "a TODO that is left"
  told "$build_dir/bin/solution_02_unified_memory_cpu"
  expect '^  Next: go on\.$' "a goal that is reached"
  [[ $(<"$temp/verdict") == "done" ]] || fail "the verdict should be: done"
  told "$build_dir/bin/solution_00_serial"
  expect_status 1 "a goal that is missed"
  expect_no "Next: " "a goal that the solution misses"
  told --exercise "$temp/learner.cu" "$build_dir/bin/solution_00_serial"
  expect '^  Next: the TODO\(02\) that are left\. For a hint: make hint STEP=02$' "a goal that is missed"
  [[ $(<"$temp/verdict") == "goal missed" ]] || fail "the verdict should be: goal missed"
fi

# What the goals say, of programs that only pretend: made ROWS... writes what a traced run would.
made() {
  printf '#!/bin/sh\n' >"$temp/made"
  printf '%s\n' "$@" >>"$temp/made"
  chmod +x "$temp/made"
}
zeros=$'0\t0\t0\t0\t0\t0\t0\t-\t-\t-\t-\t-\t-'
# Two functions that push one name.
made "printf 'nvtx\tjacobi_sweep\t14\t$zeros\n' >>\"\$LAB_TRACE_TSV\""
run "$goals" --name 01_nvtx "$temp/made"
expect 'in 7 iterations: none; jacobi_sweep is entered 14 times$' "one name for two functions"
expect '^    Do two functions push the same name\?$' "one name for two functions"
# A range that is pushed in the loop over the rows.
made "printf 'nvtx\tjacobi_sweep\t434\t$zeros\n' >>\"\$LAB_TRACE_TSV\""
run "$goals" --name 01_nvtx "$temp/made"
expect '^    Is one pushed inside a loop over rows or columns\?' "a range in the loop over the rows"
made "printf 'nvtx\tjacobi_sweep\t7\t$zeros\n' >>\"\$LAB_TRACE_TSV\""
run "$goals" --name 01_nvtx "$temp/made"
expect 'in 7 iterations: jacobi_sweep, 7 times each$' "one range"
expect '^    Push a range at the beginning of jacobi_sweep' "one range"

# Ranges that are opened in the loop and never closed: told by name, and not as ranges that are missing.
made "printf 'nvtx\tcopy_field\t7\t$zeros\nopen\tjacobi_sweep\t7\t$zeros\n' >>\"\$LAB_TRACE_TSV\""
run "$goals" --name 01_nvtx "$temp/made"
expect 'copy_field, 7 times each; jacobi_sweep is opened 7 times and never closed$' "ranges without a pop"
expect_no 'Push a range at the beginning' "ranges without a pop"

# A pop in a loop whose push comes before it.
made "printf 'nvtx\tcopy_field\t7\t$zeros\nnvtx\tjacobi_sweep\t7\t$zeros\npops\tnvtxRangePop\t434\t$zeros\n' >>\"\$LAB_TRACE_TSV\""
run "$goals" --name 01_nvtx "$temp/made"
expect '^  Goal MISSED: every range that is opened is closed$' "a pop in a loop"
expect '^    nvtxRangePop is called 434 times with no range open$' "a pop in a loop"
expect ' is one inside a loop whose push comes before it' "a pop in a loop"

# A range that was started, and a pop that closes none.
made "printf 'nvtx\tjacobi_sweep\t7\t$zeros\nopen\tcopy_field\t7\t$zeros\npops\tnvtxRangePop\t7\t$zeros\n' >>\"\$LAB_TRACE_TSV\""
run "$goals" --name 01_nvtx "$temp/made"
expect 'a range of nvtxRangeStart ends with nvtxRangeEnd' "a range that was started"
expect_no 'inside a loop|after a .return. is never' "a range that was started"

# A default that no grid has.
made "echo '  --n N  points per side (default -8192)'"
run "$goals" --name 07_beyond_l2 "$temp/made"
expect '^  Goal MISSED: both fields are 4 times the L2 cache or more$' "a negative default"
expect '^    kDefaultN is -8192, and a grid has 3 to 1048576 points per side$' "a negative default"
expect '^    Raise kDefaultN\.$' "a negative default"
made "echo '  --n N  points per side (default 67108864)'"
run "$goals" --name 07_beyond_l2 "$temp/made"
expect '^    kDefaultN is the number of points of one side: lower it\.$' "the points of a grid as a default"
made "echo '  --n N  points per side (default 9)'"
run "$goals" --name 03_larger_grid "$temp/made"
expect '^    n is 9, and the steps before have 64$' "2 ^ 11"

# Fields of doubles: twice the memory.
made "printf 'allocations\tmanaged\t2\t0\t0\t0\t0\t0\t0\t262144\t-\t-\t-\t-\t-\t-\n' >>\"\$LAB_TRACE_TSV\""
run "$goals" --name 02_unified_memory "$temp/made"
expect 'managed memory for 4 fields of floats, at n = 128: 2 are enough' "fields of doubles"

# One kernel of two that is not coalesced: it is named, and idx is not blamed.
mkdir "$temp/source"
printf '  %s\n' 'jacobi_sweep_kernel<<<grid, block>>>(f_new, f_old, n);' \
  'copy_field_kernel<<<grid, block>>>(to, from, n);' >"$temp/source/two.cu"
count_row() { # LINE KIND SECTORS
  printf '%s\t9\t%s\t1\tglobal\t%s\t4\t2048\t65536\t%s\t0\t0\t1\t1\t1\t1\\n' "$temp/source/two.cu" "$1" "$2" "$3"
}
counts=$(count_row 1 load 8192; count_row 1 store 8192; count_row 2 load 65536; count_row 2 store 65536)
made "printf '$counts' >\"\$LAB_CPU_COUNTS\""
run "$goals" --name 06_coalesced --watched "$temp/made" "$temp/made"
expect_status 1 "one kernel that is not coalesced"
expect 'jacobi_sweep_kernel: 4 per load, 4 per store; copy_field_kernel: 32 per load, 32 per store ' "one kernel"
expect 'One idx has to serve all kernels.*where that does not hold in copy_field_kernel' "one kernel that is not coalesced"
counts=$(count_row 1 load 65536; count_row 1 store 65536; count_row 2 load 65536; count_row 2 store 65536)
made "printf '$counts' >\"\$LAB_CPU_COUNTS\""
run "$goals" --name 06_coalesced --watched "$temp/made" "$temp/made"
expect 'look at idx' "both kernels"
# Threads that share out any number of points: each has several, and neighbours, on a larger grid only.
few=${counts//$'\t65536\t0'/$'\t8192\t0'} few=${few//$'\t1\\n'/$'\t2\\n'}
made "case \" \$* \" in *' --n 512 '*) printf '$counts' ;; *) printf '$few' ;; esac >\"\$LAB_CPU_COUNTS\""
run "$goals" --name 06_coalesced --watched "$temp/made" "$temp/made"
expect '32 per load, 32 per store .n = 512; 4 is the minimum' "a launch grid for any n"

# A copy whose threads write each point 33 times (a grid-stride loop with a block's stride).
# shellcheck disable=SC2016  # for the shell that runs it
made 'while [ "$1" != --iterations ]; do shift; done' \
  "printf '$temp/source/two.cu\\t9\\t1\\t1\\tglobal\\tstore\\t4\\t2048\\t%d\\t8192\\t0\\t0\\t1\\t1\\t1\\t1\\n' \$((34 * 16384 * \$2)) >\"\$LAB_CPU_COUNTS\""
run "$goals" --name 05_copy_kernel --watched "$temp/made" "$temp/made"
expect '^    the GPU writes 35.1 fields per iteration; 2 would do: does each thread have points of its own\?' "many copies"
expect '^  Goal MISSED: the copy is also done on the GPU' "many copies"

# A launch grid that counts points, or whose blocks are single threads; and one that is rounded up.
launched() { # GRID BLOCK
  made "printf 'kernels\tjacobi_sweep_kernel\t1\t0\t0\t0\t0\t0\t0\t0\t$1\t$2\t-\t-\t-\t-\n' >>\"\$LAB_TRACE_TSV\""
  run "$goals" --name 04_jacobi_kernel "$temp/made"
}
launched 32x1022x1 32x32x1
expect '^  Remark: at n = 1024 jacobi_sweep_kernel is launched with 32x1022x1 blocks of 32x32x1 threads' "rows for blocks"
expect ' room for 32 times as many threads as there are points\. The first value' "rows for blocks"
launched 1022x1022x1 1x1x1
expect ' room for 32 times as many threads' "blocks of one thread"
launched 33x33x1 32x32x1
expect_no 'Remark' "whole blocks"
made "printf '$temp/source/two.cu\\t9\\t1\\t2\\tglobal\\tload\\t4\\t2048\\t65536\\t8192\\t0\\t0\\t1\\t1\\t8\\t64\\n' >\"\$LAB_CPU_COUNTS\""
run "$goals" --name 08_cub_reduction --watched "$temp/made" "$temp/made"
expect '^  Remark: at n = 128 .* is launched with 32 blocks, of which 4 have a point\.' "blocks without a point"
made "printf 'kernels\tx.cu:1\t1\t0\t0\t0\t0\t0\t0\t0\t32x1x1\t256x1x1\t-\t-\t-\t-\n' >>\"\$LAB_TRACE_TSV\"" \
  "printf '$temp/source/two.cu\\t9\\t1\\t2\\tglobal\\tload\\t4\\t2048\\t65536\\t8192\\t0\\t0\\t1\\t1\\t8\\t64\\n' >\"\$LAB_CPU_COUNTS\""
run "$goals" --name 08_cub_reduction --watched "$temp/made" "$temp/made"
expect_no 'Remark' "as many blocks for any n"

# A tile that is loaded by columns; in the step before coalesced accesses nothing is said of them.
made "printf '$temp/source/two.cu\\t9\\t1\\t4\\tglobal\\tload\\t4\\t512\\t16384\\t16384\\t0\\t0\\t1\\t1\\t4\\t4\\n' >\"\$LAB_CPU_COUNTS\""
run "$goals" --name 09_shared_tile --watched "$temp/made" "$temp/made"
expect '^  Remark: at n = 128 .* loads 32 sectors of 32 bytes for each 32 floats, and 4 are enough' "a tile loaded by columns"
run "$goals" --name 05_copy_kernel --watched "$temp/made" "$temp/made"
expect_no 'sectors of 32 bytes' "a step before coalesced accesses"

# Without a GPU, what n means for the caches that are common.
made 'echo "  --n N   points per side (default 4096)"'
run "$goals" --name 07_beyond_l2 "$temp/made"
expect 'at n = 4096 both fields have 134 MB, and 4 times the L2 cache are 252 MB on an H200, 210 MB on an H100 and 168 MB on an A100: n is too small for each of them$' "n = 4096"

made 'echo "  --n N   points per side (default 1400)"'
run "$goals" --name 07_beyond_l2 "$temp/made"
expect_status 1 "n = 1400, less than 4 times the smallest cache"
expect "n = 1400: 15\.7 MB, and even a T4's L2 cache has 4\.2 MB" "n = 1400"

# The host and the sum's page: as the CPU counts it in the solution, and in the step before.
watched=$build_dir/bin/solution_07_beyond_l2_cpu_watched
if [[ -x $watched && -x $build_dir/bin/solution_08_cub_reduction_cpu_watched ]]; then
  line=$(grep -n 'cudaMallocManaged(sum' "$source_dir/solutions/07_beyond_l2/jacobi.cu" | cut -d : -f 1)
  # From the lab's folder, as make check runs it: files are named from there.
  run env -C "$source_dir" "$goals" --name 08_cub_reduction --watched "$watched" "$watched"
  expect 'Goal MISSED: host code leaves the sum to the GPU' "a host that reads and clears the sum"
  expect "sum, 2 times \(allocated at solutions/07_beyond_l2/jacobi\.cu:$line\)\$" "a host that reads and clears the sum"
  watched=${watched/07_beyond_l2/08_cub_reduction}
  run "$goals" --name 08_cub_reduction --watched "$watched" "$watched"
  expect 'Goal reached: host code leaves the sum to the GPU' "cudaMemset and cudaMemcpy"
fi

# Times are held against each other by the fastest of three runs, in turn. Pretended: a run of step 10 is of
# 21 us a sweep, but for one of 17 us; the learner's takes 4.5 us, or 3.3: no run may decide alone.
timed() { # NAME MICROSECONDS...: a program whose runs tell these times
  local name=$1
  shift
  printf '%s\n' "$@" >"$temp/$name.us"
  cat >"$temp/$name" <<END
#!/bin/sh
[ "\$1" != --help ] || { echo '  --n N   points per side (default 512)'; exit; }
"$build_dir/bin/solution_00_serial" "\$@" --n 3 || exit
us=\$(head -n 1 "$temp/$name.us")
sed -i 1d "$temp/$name.us"
while [ "\$1" != --record ]; do shift; done
sed -i "s/\"n\": 3/\"n\": 512/; s/\(_median\": \).*[0-9]/\1\${us}e-3/" "\$2/run.json"
END
  chmod +x "$temp/$name"
}
timed before 21 17 21
timed learner 4.5 4.6 4.5
run "$goals" --name 11_cuda_graph --gpu --before "$temp/before" "$temp/learner"
expect 'Goal MISSED' "launches as slow as without a graph"
expect '3\.78 times: 4\.5 us per sweep, and 17 us in the previous step, at n = 512$' "the fastest of three runs"
timed before 21 17 21
timed learner 3.8 3.3 3.9
run "$goals" --name 11_cuda_graph --gpu --before "$temp/before" "$temp/learner"
expect '5\.15 times: 3\.3 us per sweep, and 17 us in the previous step, at n = 512$' "the fastest of three runs"
expect 'Goal reached: 4\.5 times' "the fastest of three runs"

# `make count` shows of a line what tells it from the next one.
printf '%s\n' '    const float east = f_old[idx(i + 1, j, n)];' '    const float north = f_old[idx(i, j + 1, n)];' \
  >"$temp/source/lines.cu"
{
  printf 'file\tline\tkernel_line\tlaunches\tspace\taccess\tbytes\trequests\tthreads\tsectors\twavefronts\tconflicts\t'
  printf 'addresses\tmost_at_one_address\tblocks\tlaunched_blocks\n'
  for line in 1 2; do printf 'lines.cu\t%d\t1\t1\tglobal\tload\t4\t1\t32\t4\t0\t0\t1\t1\t1\t1\n' "$line"; done
} >"$temp/counts.tsv"
labtool profilers.run_tables counts "$temp/counts.tsv" --n 32 "$temp/source/lines.cu"
expect ' east = f_old\[idx\(i \+ 1, j, n\)\];$' "make count"
expect ' north = f_old\[idx\(i, j \+ 1, n\)\]' "make count"
printf '\t0\t1\t1\tglobal\tload\t4\t1\t32\t4\t0\t0\t1\t1\t1\t1\n' >>"$temp/counts.tsv"
labtool profilers.run_tables counts "$temp/counts.tsv" --n 32 "$temp/source/lines.cu"
expect '^     -  global load .*sectors +\(inside a library\)$' "make count"
narrow "make count"

# bad WORDS OPTION...: bad usage, in one line.
bad() {
  local words=$1
  shift
  run "$goals" "$@"
  expect_status 2 "goals $*"
  expect "^goals: $words" "goals $*"
}
program=$build_dir/bin/solution_00_serial
bad 'which program\?' --name 04_jacobi_kernel
bad '--watched: needs a value' --name 04_jacobi_kernel --watched
bad '--frobnicate: no such option' --frobnicate
bad '--ranks two: must be a whole number' --ranks 1,two
bad '--ranks 0: must be' --ranks 0
bad 'one program at a time' --name 04_x "$program" "$program"
bad '--time-limit 0: must be a number' --time-limit 0
bad '--time-limit ten: must be a number' --time-limit ten
# A program that is not there, and one that breaks: nothing is measured, and nothing is claimed.
run "$goals" --name 02_unified_memory /nowhere/program
expect "not measurable here" "a program that is not there"
expect "02_unified_memory: done, as far as this machine can tell" "a program that is not there"
printf '#!/bin/sh\nkill -SEGV $$\n' >"$temp/crash"
printf '#!/bin/sh\nsleep 60\n' >"$temp/hang"
chmod +x "$temp/crash" "$temp/hang"
run "$goals" --name 02_unified_memory "$temp/crash"
expect "it crashed: SIGSEGV" "a program that crashes"
run "$goals" --name 02_unified_memory --time-limit 1 "$temp/hang"
expect "it took more than 1 s" "a program that hangs"

finish "what the goals say of made-up runs"
