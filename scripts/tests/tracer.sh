#!/usr/bin/env bash
# The tracer listens to NVTX: in the lab's own programs and in one that uses all of NVTX that is traced;
# `make trace` says what there is to say. What it tells of a GPU is tried where there is one.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/stubs.sh"
need make python3
need_build
make_temp

export LAB_BUILD_DIR=$build_dir
run make --no-print-directory -C "$source_dir" trace STEP=01 WHICH=solution ITERATIONS=5
expect_status 0 "make trace"
expect '^ +%  +total ms  +count  +(median|mean) ms  +max ms  range$' "make trace"
expect '^ +[0-9.]+ +[0-9]+\.[0-9]{3} +5 +[0-9.]+ +[0-9.]+  jacobi_sweep$' "make trace"
expect_no 'Kernels|never closed' "make trace of a step without kernels"
narrow "make trace"
run make --no-print-directory -C "$source_dir" trace STEP=01 ITERATIONS=none
expect_status 2 "make trace ITERATIONS=none"
expect 'ITERATIONS=none: must be a whole number' "make trace ITERATIONS=none"
run make --no-print-directory -C "$source_dir" trace STEP=00 WHICH=solution ITERATIONS=5
expect_status 2 "make trace of a program without ranges"
expect '^trace.sh: 00_serial opened no NVTX range: there is nothing to trace$' "make trace of a program without ranges"
run make --no-print-directory -C "$source_dir" trace STEP=04 WHICH=solution N=64 ITERATIONS=3
expect_status 0 "make trace of a step with kernels"
expect '  ?jacobi_sweep$' "make trace of a step with kernels"
if ! grep -q 'traced:$' <<<"$out"; then
  expect '^ +3  2x2x1 +32x32x1 +jacobi_sweep_kernel, launched at line [0-9]+$' "make trace on the CPU"
  expect '^ +3 +0\.032776  managed$' "make trace on the CPU"
  narrow "make trace on the CPU"
else
  expect '^ +%  +total ms  +count  +(median|mean) ms  +max ms  kernel$' "make trace on a GPU"
  expect '^ +[0-9.]+ +[0-9]+\.[0-9]{3} +3 +[0-9.]+ +[0-9.]+  jacobi_sweep_kernel$' "make trace on a GPU"
  expect '^ +grid 2x2x1, block 32x32x1, [0-9]+ registers, shared 0\+0 B, local 0 B$' "make trace on a GPU"
  expect '  cudaDeviceSynchronize$' "make trace on a GPU"
  expect '^Unified memory$' "make trace on a GPU"
  narrow "make trace on a GPU"
fi

# Of a job each rank has a table, and their ranges stand side by side.
ranks_step=$(awk -F '\t' '$3 == "ranks" { print $1; exit }' "$source_dir/lab/steps.tsv")
if [[ -d $source_dir/solutions ]] && grep -q "^solution_${ranks_step}_cpu$" "$build_dir/step_targets.txt"; then
  run make --no-print-directory -C "$source_dir" trace STEP="${ranks_step%%_*}" WHICH=solution N=100 ITERATIONS=18 RANKS=2
  expect_status 0 "make trace of a job"
  expect ', n = 100, 2 ranks, 18 iterations' "make trace of a job"
  expect '^ +rank 0 +rank 1 +times  range$' "make trace of a job"
  expect '^ +[0-9.]+ +[0-9.]+ +3  exchange_halos$' "make trace of a job"
  for rank in 0 1; do
    grep -q $'^nvtx\texchange_halos\t3\t' "$build_dir/profiles/trace_solution_${ranks_step}_rank$rank.tsv" ||
      fail "make trace of a job: rank $rank has no table of its own"
  done
  run make --no-print-directory -C "$source_dir" trace STEP="${ranks_step%%_*}" WHICH=solution N=20 RANKS=2
  expect_status 2 "make trace of a job that cannot be"
  expect "^$ranks_step: .*rows" "make trace of a job that cannot be"
fi
# A range that is left open, by the lab's own NVTX, and the table of one.
printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' table name count total_ns mean_ns median_ns min_ns max_ns \
  nvtx sweep 2 3000000 1500000.0 1500000.0 0 2000000 open lost 1 0 0 0 0 0 open lost 1 0 0 0 0 0 >"$temp/open.tsv"
labtool profilers.run_tables trace "$temp/open.tsv" --ranges
expect '^ 100\.0 +3\.000 +2 +1\.50000 +2\.00000  sweep$' "ranges that are left open"
expect '^2 NVTX ranges were never closed: lost$' "ranges that are left open"
labtool profilers.run_tables trace "$temp/open.tsv"
expect '^The program asks nothing of CUDA: ' "a program that asks nothing of CUDA"
expect_no "need a GPU" "a program that asks nothing of CUDA"
# The table of a run on a GPU, with names longer than a line has room for.
row() {
  local IFS=$'\t'
  echo "${*:1:8}"$'\t0\t'"${*:9}"
}
{
  echo $'table\tname\tcount\ttotal_ns\tmean_ns\tmedian_ns\tmin_ns\tmax_ns\tdeviation_ns\tbytes\tgrid\tblock\tregisters\tstatic_shared\tdynamic_shared\tlocal'
  row nvtx 'sweeps (old)' 4 8000000 2000000 2000000 2000000 2000000 0 - - - - - -
  row kernels 'void cub::detail::reduce::DeviceReduceKernel<int>(int*)' 20 1000000 50000 50000 40000 60000 0 128x128x1 32x32x1 19 0 16 0
  row kernels 'jacobi_pass_kernel<(int)16, (bool)1>(float*, int)' 20 3000000 150000 150000 40000 60000 0 528x1x1 32x2x1 128 16384 0 0
  row calls cudaMemcpy2D 3 5000000 1 1 1 1 0 - - - - - -
  row migration 'host to device' 7 300000 1 1 1 1 134668000 - - - - - -
  row allocations managed 2 0 0 0 0 0 134218000 - - - - - -
} >"$temp/gpu.tsv"
labtool profilers.run_tables trace "$temp/gpu.tsv"
narrow "a run on a GPU"
expect '^ 100\.0 +8\.000 +4 +2\.00000 +2\.00000  sweeps \(old\)$' "a run on a GPU"
expect '^  75\.0 +3\.000 +20 +0\.15000 +0\.06000  jacobi_pass_kernel<16, 1>$' "a run on a GPU"
expect '^ +grid 528x1x1, block 32x2x1, 128 registers, shared 16384\+0 B, local 0 B$' "a run on a GPU"
expect '  cub::detail::reduce::Device$' "a run on a GPU"
expect '^ +% +total ms +count +mean ms +total MB  what$' "a run on a GPU"
expect '^ 100\.0 +0\.300 +7 +0\.00000 +134\.668  host to device$' "a run on a GPU"
expect_no 'no times|need a GPU|Exchanges|Copies' "a run on a GPU"

library=$build_dir/lib/liblab_trace.so
if [[ ! -f $library ]]; then
  ((failures == 0)) || finish "make trace"
  skip "the tracer needs the CUDA Toolkit's NVTX, and this build has none; make trace is right"
fi
traced() { run env NVTX_INJECTION64_PATH="$library" CUDA_INJECTION64_PATH="$library" "$@"; }

# in_table NAME COLUMN VALUE: the table's line of that range says so.
in_table() {
  local found
  found=$(awk -F '\t' -v name="$1" -v column="$2" '
    NR == 1 { for (k = 1; k <= NF; ++k) at[$k] = k; next }
    $2 == name { print $(at[column]) }' "$temp/table")
  [[ $found == "$3" ]] || fail "$1: its $2 should be $3, and is '$found':" "$(<"$temp/table")"
}

step=$(awk '/^01_/ { print $1 }' "$source_dir/lab/steps.tsv")
traced env LAB_TRACE_TSV="$temp/table" "$build_dir/bin/solution_$step" --n 32 --iterations 7 --quiet
expect_status 0 "a traced step"
[[ -z $out$err ]] || show "the tracer should only write its table"
in_table jacobi_sweep count 7
in_table copy_field count 7
in_table initialize_field count 2

traced env LAB_TRACE_TSV="$temp/not there/table" "$build_dir/bin/solution_$step" --n 32 --iterations 7 --quiet
expect_status 0 "a table that cannot be written"
expect '^trace: .*/not there/table: cannot be written$' "a table that cannot be written"

cat >"$temp/all.cpp" <<'END'
#include <nvtx3/nvToolsExt.h>
#include <thread>
int main() {
  nvtxRangePushA("outer");
  nvtxEventAttributes_t event = {};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = "event";
  nvtxDomainHandle_t domain = nvtxDomainCreateA("mine");
  nvtxDomainRangePushEx(domain, &event);
  nvtxDomainRangePop(domain);
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = nvtxDomainRegisterStringA(domain, "registered");
  const nvtxRangeId_t early = nvtxDomainRangeStartEx(domain, &event), late = nvtxRangeStartA("late");
  nvtxDomainRangeEnd(domain, early);
  // A range that one thread begins and another ends; and one that nests in no other thread's.
  std::thread([late] {
    nvtxRangePushA("outer");
    nvtxRangePop();
    nvtxRangeEnd(late);
  }).join();
  std::thread([] { nvtxRangePop(); }).join();  // no range of this thread is open
  nvtxRangePop();
  nvtxRangePushA("never closed");
  return nvtxRangePop() + 1 == 0 ? 1 : (nvtxRangePushA("never closed"), 0);
}
END
"${LAB_TEST_CXX:-c++}" -I"$(dirname "${LAB_TEST_NVCC:-/usr/local/cuda/bin/nvcc}")/../include" "$temp/all.cpp" -o "$temp/all" \
  -ldl -pthread || skip "NVTX's headers were not found"
traced env LAB_TRACE_TSV="$temp/table" "$temp/all"
expect_status 0 "a program with all kinds of ranges"
in_table outer count 2
in_table mine:event count 1
in_table mine:registered count 1
in_table late count 1
in_table nvtxRangePop count 1
grep -q $'^open\tnever closed\t1\t' "$temp/table" || fail "the range that is open has its name in the table"
labtool profilers.run_tables trace "$temp/table" --ranges
expect '^1 NVTX range was never closed: never closed$' "a program with all kinds of ranges"
expect '^1 x nvtxRangePop, and no range was open$' "a program with all kinds of ranges"

labtool profilers.rank_ranges "$temp/table.none"
expect_status 2 "ranges of no file"
expect '^rank_ranges.py: .*/table.none: No such file' "ranges of no file"
printf 'nothing\n' >"$temp/empty.tsv"
labtool profilers.rank_ranges "$temp/empty.tsv"
expect_status 1 "no ranges"
expect '^rank_ranges.py: .*/empty.tsv: there is no NVTX range in it$' "no ranges"

# What holds the tracer against nsys finds nsys where `make nsys` does: off the PATH, too. No step is run here.
if [[ -f $source_dir/scripts/publish/tracer.py ]] && command -v python3 >/dev/null; then
  make_stubs
  stub nsys <<<'exit 1' # a toolkit has a script of that name, whether or not nsys is there
  # finds WHAT PATH [VARIABLE=VALUE...]
  finds() {
    local what=$1 path=$2
    shift 2
    run env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$source_dir/scripts" "$@" python3 -c \
      'import sys; from labtools.machine import find_profiler; sys.stdout.write(str(find_profiler("nsys")))'
    [[ $out == "$path" ]] || show "$what: it should find $path"
  }
  finds "no nsys" None
  place=$temp/root/opt/nvidia/nsight-systems/2025.3.1/bin
  mkdir -p "$place" "$temp/named"
  stub found <<<'echo "NVIDIA Nsight Systems version 2025.3.1.0-1"'
  cp "$temp/stubs/found" "$place/nsys"
  finds "nsys off the PATH" "$place/nsys"
  mv "$temp/stubs/found" "$temp/named/nsys-2024"
  finds "LAB_NSYS" "$temp/named/nsys-2024" LAB_NSYS="$temp/named/nsys-2024"
fi

finish "ranges, tables and words of the tracer"
