#!/usr/bin/env bash
# `make nsys` and `make ncu`, with profilers that replay reports recorded on a GPU, and every way in which they
# cannot run: the exit code, and what is said. Neither a GPU nor a profiler is needed.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/stubs.sh"
need make python3 timeout
make_temp
make_stubs
recorded=$source_dir/scripts/tests/recorded
profiles=$temp/build/profiles
# The programs that are profiled are in the solutions, which a handout has not.
which=exercise
if [[ -d $source_dir/solutions ]]; then which=solution; fi
export WHICH=$which
profile() { run make_in "$source_dir" "$@"; }

# left_clean WHAT: nothing half-written is left.
left_clean() {
  local left
  left=$(find "$profiles" -mindepth 1 \( -name '.*' -o -name '*.qdstrm' -o -name '*.sqlite' \) 2>/dev/null || true)
  [[ -z $left ]] || fail "$1: something is left: $left"
}

# cannot REGEX WHAT: the last command ended with 77 (make's own code is 2), and stderr begins with that.
cannot() {
  local lines
  expect_status 2 "$2"
  expect 'Error 77$' "$2"
  lines=$(grep -vE '^make(\[[0-9]+\])?: \*\*\* ' <<<"$err")
  grep -qE -- "$1" <<<"$(head -n 2 <<<"$lines" | tr '\n' ' ')" || show "$2: its first line should match '$1'"
  narrow "$2"
  left_clean "$2"
}

# Missing: a GPU, then each tool.
stub_build
stub nvidia-smi <<<'exit 9' # it sees none, also where there is one
profile nsys STEP=04
cannot '^nsys.sh: nsys: there is no NVIDIA GPU here' "nsys without a GPU"
expect 'make trace STEP=04' "nsys without a GPU"
profile ncu STEP=06
cannot '^ncu.sh: ncu: there is no NVIDIA GPU here' "ncu without a GPU"
expect 'make count STEP=06' "ncu without a GPU"
stub_gpu
profile nsys STEP=04
cannot '^nsys.sh: nsys \(Nsight Systems\) was not found' "no nsys"
expect 'LAB_NSYS=/path/to/nsys' "no nsys"
profile ncu STEP=06
cannot '^ncu.sh: ncu \(Nsight Compute\) was not found' "no ncu"
# A program of the name that does not run is none: a toolkit has such a script.
stub ncu <<<'echo "ncu is not installed" >&2; exit 1'
profile ncu STEP=06
cannot 'ncu \(Nsight Compute\) was not found' "an ncu that does not run"

# nsys replays.
stub nsys <<END
echo "nsys \$*" >>"$temp/calls"
case \$1 in
  --version) echo "NVIDIA Nsight Systems version 2025.3.1.0-253135822" ;;
  profile)
    cat "$temp/nsys_says" 2>/dev/null
    [[ ! -f "$temp/nsys_fails" ]] || exit "\$(<"$temp/nsys_fails")"
    while [[ \$1 != -o ]]; do shift; done
    echo report >"\$2.nsys-rep"
    ;;
  stats)
    cat "$recorded/nsys_04.csv" && touch "\${!#%.nsys-rep}.sqlite"
    if [[ "\$*" != *" cuda_gpu_trace "* ]]; then exit; fi
    printf 'Processing [a file]\n\nStart (ns),Duration (ns),Strm,Name\n'
    for k in {10..39}; do printf '%d00,50,17,a_kernel(x)\n%d50,40,18,ncclDevKernel_SendRecv(x)\n%d55,9,18,[CUDA memcpy]\n' \$k \$k \$k; done
    ;;
esac
END
profile nsys STEP=04
expect_status 0 "nsys"
expect '^nvtx_sum: NVTX ranges$' "nsys"
expect '^ +[0-9.]+ +[0-9.]+ m?s +[0-9]+ +[0-9.]+ ms .* copy_field$' "nsys"
expect '^ *[0-9.]+ .* ms  jacobi_sweep_kernel$' "nsys"
expect '^  host to device  .* per sweep$' "nsys"
expect '^  page fault groups on the GPU +[0-9,]+$' "nsys"
expect '^  > ' "nsys"
expect '^04_jacobi_kernel .*, n = 2048, 30 iterations, NVIDIA H200, nsys' "nsys"
expect_no 'cuda_api_sum' "nsys shows what matters for this step"
narrow nsys
left_clean nsys
for ending in nsys-rep csv; do
  [[ -s $profiles/nsys_${which}_04_jacobi_kernel.$ending ]] || fail "nsys keeps no .$ending"
done
grep -q 'nsys profile -t cuda,nvtx .*--cuda-um-cpu-page-faults=true --cuda-um-gpu-page-faults=true .* --n 2048 --iterations 30 ' \
  "$temp/calls" || fail "nsys has other options than step 04 needs:" "$(<"$temp/calls")"
: >"$temp/calls"
profile nsys STEP=07 N=512 ITERATIONS=7
expect_status 0 "nsys of another step"
if grep -q 'page-faults' "$temp/calls"; then fail "page faults are followed where nothing migrates"; fi
grep -q -- '--n 512 --iterations 7 ' "$temp/calls" || fail "N and ITERATIONS do not arrive"
profile nsys STEP=02 ITERATIONS=
grep -q -- '--iterations 500 ' "$temp/calls" || fail "as many iterations as make run times are too many here"
profile nsys STEP=05 BASELINE=previous
expect_status 0 "nsys beside the step before"
expect '^next to 04_jacobi_kernel \(' "nsys beside the step before"
expect '^  kernel jacobi_sweep_kernel .* 1$' "nsys beside the step before"
narrow "nsys beside the step before"

# A job of several ranks: a report for each, and the ranges of all side by side.
if [[ $which == solution ]]; then
  ranks_step=$(awk -F '\t' '$3 == "ranks" { print $1; exit }' "$source_dir/lab/steps.tsv")
  sed -i 's/^    echo "-- CUDA .*/&\n    echo "-- MPI 3.1"/' "$temp/stubs/cmake"
  mkdir -p "$temp/build/bin"
  cat >"$temp/build/bin/ranks" <<'END'
#!/bin/bash
ranks=$1
shift
for ((rank = 0; rank < ranks; ++rank)); do OMPI_COMM_WORLD_RANK=$rank "$@" || exit; done
END
  chmod +x "$temp/build/bin/ranks"
  : >"$temp/calls"
  profile nsys STEP="${ranks_step%%_*}" RANKS=3 N=512
  expect_status 0 "nsys of a job"
  expect ", n = 512, 500 iterations, 3 ranks, under nsys" "nsys of a job"
  expect '^ +rank 0 +rank 1 +rank 2 +times  range$' "nsys of a job"
  expect '^ +1547\.599 +1547\.599 +1547\.599 +30  copy_field$' "nsys of a job"
  expect "nsys_solution_${ranks_step}_rank0.nsys-rep\$" "nsys of a job"
  left_clean "nsys of a job"
  for rank in 0 1 2; do
    grep -q "nsys profile .*_rank$rank .*--n 512 " "$temp/calls" || fail "rank $rank has no report of its own" "$(<"$temp/calls")"
    for ending in nsys-rep csv; do
      [[ -s $profiles/nsys_solution_${ranks_step}_rank$rank.$ending ]] || fail "rank $rank: there is no .$ending"
    done
  done
  # Of the time line the middle: twelve kernels, without copies.
  profile nsys STEP=15 RANKS=2 N=512
  expect '^timeline: kernels of two passes$' "nsys with the time line"
  report=$profiles/nsys_solution_15_overlap_rank0.csv
  [[ $(sed -n '/^Start/,$p' "$report" | sed -n '2p;$p' | tr '\n' ' ') == '2500,50,17,a_kernel(x) 3050,40,18,ncclDevKernel_SendRecv(x) ' ]] ||
    fail "the middle of the time line should be kept:" "$(sed -n '/^Start/,$p' "$report")"
  # One GPU: one rank; and those of before are gone.
  profile nsys STEP="${ranks_step%%_*}" N=512
  expect ", n = 512, 500 iterations, 1 rank, under nsys" "nsys of a job of one rank"
  [[ ! -e $profiles/nsys_solution_${ranks_step}_rank1.csv ]] || fail "a report of a rank of before is left"
  refuses 'RANKS=2,3: one number of ranks' profile nsys STEP="${ranks_step%%_*}" RANKS=2,3
fi
refuses 'RANKS=2: 04_jacobi_kernel is a program of one process' profile nsys STEP=04 RANKS=2

# What was kept can be shown without anything.
mkdir "$temp/kept"
cp "$profiles/nsys_${which}_04_jacobi_kernel.csv" "$temp/kept/nsys_04.csv"
cp "$profiles/nsys_${which}_05_copy_kernel.csv" "$temp/kept/nsys_05.csv"
mv "$temp/stubs" "$temp/away"
profile nsys STEP=05 REPORT="$temp/kept/nsys_05.csv" BASELINE=previous
expect_status 0 "a report that was kept"
expect '^next to 04_jacobi_kernel' "a report that was kept"
# The step before at the same n, where that was kept, too.
sed $'s/^# n\t.*/# n\t512/' "$temp/kept/nsys_04.csv" >"$temp/kept/nsys_04_n512.csv"
sed -i $'s/^# n\t.*/# n\t512/' "$temp/kept/nsys_05.csv"
profile nsys STEP=05 REPORT="$temp/kept/nsys_05.csv" BASELINE=previous
expect '^next to 04_jacobi_kernel \(.*\), n = 512: ' "a report of the step before at this n"
expect_no 'Mind: this one is at n' "a report of the step before at this n"
profile nsys STEP=05 REPORT="$temp/kept/nsys_04.csv"
expect 'Mind: this report is not of step 05' "a report of another step"
mv "$temp/away" "$temp/stubs"

# nsys and the program fail.
fails() { printf '%s\n' "$2" >"$temp/$1_says" && printf '%s\n' "$3" >"$temp/$1_fails"; }
fails nsys '04_jacobi_kernel: no usable GPU was found' 77
profile nsys STEP=04
expect 'Error 77' "the program finds no GPU"
expect '^04_jacobi_kernel: no usable GPU was found$' "the program finds no GPU"
fails nsys 'The CUDA driver says: CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED' 1
profile nsys STEP=04
cannot 'another profiler is attached' "another profiler"
fails nsys 'something that has no name' 5
profile nsys STEP=04
expect 'Error 1$' "a failure without a name"
expect '^something that has no name$' "a failure without a name"
expect 'nsys wrote no report \(exit code 5\)' "a failure without a name"
left_clean "a failure without a name"
fails nsys '' 139
profile nsys STEP=04
expect 'died of signal 11 under nsys' "a program that crashes"
rm "$temp/nsys_says" "$temp/nsys_fails"
# A report is there, though nsys ends with an exit code of its own.
cp "$temp/stubs/nsys" "$temp/nsys"
sed -i 's/^    echo report .*/&; exit 2/' "$temp/stubs/nsys"
profile nsys STEP=04
expect_status 0 "nsys ends with an exit code of its own"
expect 'a report was written, although nsys ended with exit code 2' "nsys ends with an exit code of its own"
cp "$temp/nsys" "$temp/stubs/nsys"

# ncu replays.
stub ncu <<END
echo "ncu \$*" >>"$temp/calls"
case "\$*" in
  --version) printf '%s\n' "NVIDIA (R) Nsight Compute Command Line Profiler" "Version 2025.3.1.0 (build 1) (public-release)" ;;
  *--import*) cat "$recorded/ncu_06.csv" ;;
  *)
    cat "$temp/ncu_says" 2>/dev/null
    [[ ! -f "$temp/ncu_fails" ]] || exit "\$(<"$temp/ncu_fails")"
    while [[ \$1 != -o ]]; do shift; done
    echo report >"\$2.ncu-rep"
    ;;
esac
END
: >"$temp/calls"
profile ncu STEP=06
expect_status 0 "ncu"
expect '^copy_field_kernel, grid [0-9x]+, block [0-9x]+$' "ncu"
expect '^  sectors per request, loads +4$' "ncu"
expect '^  Memory Throughput, of peak +[0-9.]+ %$' "ncu"
expect '^  > Sectors per request' "ncu"
narrow ncu
left_clean ncu
[[ -s $profiles/ncu_${which}_06_coalesced.ncu-rep ]] || fail "ncu keeps no report"
grep -q -- 'ncu --set full .*--section MemoryWorkloadAnalysis_Tables .*--kernel-name regex:jacobi_sweep|copy_field --launch-skip 5 --launch-count 2 .*--iterations 10 ' \
  "$temp/calls" || fail "ncu has other options than step 06 needs:" "$(<"$temp/calls")"
: >"$temp/calls"
profile ncu STEP=07 KERNEL=copy_field SET=basic
grep -q -- 'ncu --set basic .*--cache-control none --kernel-name regex:copy_field --launch-skip 5 --launch-count 1 ' \
  "$temp/calls" || fail "KERNEL and SET do not arrive:" "$(<"$temp/calls")"
# A pass makes several sweeps: enough of them for a sixth one.
profile ncu STEP=13
grep -q -- '--kernel-name regex:jacobi_sweep|jacobi_pass --launch-skip 5 --launch-count 1 .*--n 16384 --iterations 240 ' \
  "$temp/calls" || fail "ncu does not reach a pass of step 13:" "$(<"$temp/calls")"
# The start of step 16 launches its kernels on coarser grids first.
profile ncu STEP=16
grep -q -- '--kernel-name regex:jacobi_sweep|jacobi_pass|defect_kernel --launch-skip 60 --launch-count 1 .*--n 16384 ' \
  "$temp/calls" || fail "ncu does not reach the finest grid of step 16:" "$(<"$temp/calls")"
: >"$temp/calls"
profile nsys STEP=11
grep -q 'nsys profile .*--cuda-graph-trace=node .*--n 512 ' "$temp/calls" || fail "nsys does not look into step 11's graphs"
profile ncu STEP=06 BASELINE=previous
expect_status 0 "ncu beside the step before"
expect '^ +05_copy_kernel +06_coalesced$' "ncu beside the step before"
expect '^  sectors per request, loads +[0-9.]+ +4$' "ncu beside the step before"
# Of a job it takes one rank, and says so.
if [[ $which == solution ]]; then
  profile ncu STEP="${ranks_step%%_*}" N=512 BASELINE=previous
  expect_status 0 "ncu of a job"
  expect "^solution $ranks_step, n = 512, one rank, under ncu" "ncu of a job"
  expect "^solution [0-9]+_[a-z_]+, n = 512, under ncu" "ncu of a job, beside a program of one process"
  profile ncu STEP="${ranks_step%%_*}" RANKS=1
  expect_status 0 "ncu of a job, RANKS=1"
  expect "^  make nsys STEP=${ranks_step%%_*} RANKS=2\$" "ncu of a job, RANKS=1"
  narrow "ncu of a job, RANKS=1"
  profile ncu STEP="${ranks_step%%_*}" RANKS=2
  said_one_line "RANKS=2: ncu looks at a job of one rank; .* make nsys STEP=${ranks_step%%_*} RANKS=2" "ncu of two ranks"
  refuses 'RANKS=x: must be a number of ranks' profile ncu STEP="${ranks_step%%_*}" RANKS=x
  profile ncu STEP=06
  expect_no 'one rank' "ncu of a program of one process"
fi
refuses 'RANKS=2: 06_coalesced is a program of one process' profile ncu STEP=06 RANKS=2
profile ncu STEP=03
cannot '^03_larger_grid: skipped: it has no kernel' "a step without kernels"

# Every failure of ncu that has a name.
named() {
  fails ncu "$2" "${4:-1}"
  profile ncu STEP=06
  cannot "$1" "$3"
}
named 'may not read the GPU.s hardware counters here \(ERR_NVGPUCTRPERM\)' \
  '==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters on the target device 0.' \
  "no permission"
expect 'NVreg_RestrictProfilingToAdminUsers=0' "no permission"
expect 'cap-add=SYS_ADMIN' "no permission"
named "another program holds the GPU's counters, most likely DCGM" \
  '==ERROR== Profiling failed because a driver resource was unavailable. Ensure that no other tool (like DCGM) is concurrently collecting profiling data.' \
  "DCGM" 9
expect 'dcgmi profile --pause' "DCGM"
expect 'dcgmi profile --resume' "DCGM"
named 'cut into slices \(MIG\)' \
  '==ERROR== Profiling is not supported on device 0 as it uses Multi-Instance GPU (MIG).' "MIG"
named 'this is WSL' '==ERROR== Profiling is not supported on device 0 as it uses the Windows Subsystem for Linux (WSL).' "WSL"
named 'does not know the GPU' \
  '==ERROR== Profiling is not supported on device 0. To find out supported GPUs refer --list-chips option.' "an old ncu"
named 'lock file belongs to another user' '==ERROR== Failed to open/create lock file /tmp/nsight-compute-lock.' "the lock file"
named 'could not load the driver.s profiling library' '==ERROR== Failed to initialize the profiler: LibraryNotLoaded' "a sandbox"
fails ncu '==WARNING== No kernels were profiled.' 0
profile ncu STEP=06 KERNEL=none
expect "no launch of a kernel that matches 'none' was seen" "a KERNEL that does not exist"
fails ncu '06_coalesced: jacobi.cu:99: an illegal memory access was encountered' 3
profile ncu STEP=06
expect '^ncu.sh: the program itself failed' "a program that fails"
rm "$temp/ncu_says" "$temp/ncu_fails"

# Off the PATH: where toolkits, packages and modules put it.
for place in root/opt/nvidia/nsight-compute/2024.1.1/ncu root/usr/local/cuda/bin/ncu sdk/profilers/Nsight_Compute/ncu; do
  mkdir -p "$temp/$(dirname "$place")"
  mv "$temp/stubs/ncu" "$temp/$place"
  run env NVHPC_ROOT="$temp/sdk" make --no-print-directory -C "$source_dir" ncu STEP=06
  expect_status 0 "ncu in $place"
  mv "$temp/$place" "$temp/stubs/ncu"
done

# What is made of the numbers: bytes per point, names of kernels.
tables() { labtool profilers.profile_tables "$@"; }
printf '# n\t1000\n# iterations\t4\n' >"$temp/small.csv"
cat >>"$temp/small.csv" <<'END'
Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name
75.0,3000000,2,1500000,1500000,1000000,2000000,1.0,"void jacobi_sweep_kernel<(bool)1>(float *, int)"
25.0,1000000,2,500000,500500,1000,999000,1.0,"void (anonymous namespace)::other<cub::A<int, 256, (cub::B)2>, float>(T1 *)"
20.0,800000,2,400000,400000,1000,999000,1.0,"void jacobi_pass_kernel<(int)12, (bool)1>(float *, const float *, double *, int, int)"
10.0,400000,2,200000,200000,1000,999000,1.0,"void jacobi_pass_kernel<(int)4, (bool)0>(float *, const float *, double *, int, int)"

Total (MB),Count,Avg (MB),Med (MB),Min (MB),Max (MB),StdDev (MB),Operation
12.000,3,4,4,4,4,0,[CUDA memcpy Unified Host-to-Device]
7.000,1,7,7,7,7,0,[CUDA memcpy Device-to-Host]
END
tables nsys "$temp/small.csv"
expect '^ 75\.0 +3 ms +2 +1\.5 ms +1 ms +2 ms  jacobi_sweep_kernel<1>$' "nsys's numbers"
expect '^ 25\.0 +1 ms +2 +500\.5 µs +1 µs +999 µs  other$' "nsys's numbers"
# What would be too long with true and false; these are different kernels.
expect '^ 20\.0 .* µs  jacobi_pass_kernel<12, 1>$' "nsys's numbers"
expect '^ 10\.0 .* µs  jacobi_pass_kernel<4, 0>$' "nsys's numbers"
expect '^  host to device +12 MB in 3 pieces, 3 MB per sweep$' "nsys's numbers"
expect_no 'device to host' "a copy is no migration"
expect '^  \(one field has 4 MB\)$' "nsys's numbers"
expect '^  none: no NVTX range$' "nsys's numbers"
# Two passes from the first exchange on that has its pass before it; times from the first kernel of these.
cat >"$temp/timeline.csv" <<'END'
Start (ns),Duration (ns),Strm,Name
500,100,17,ncclDevKernel_SendRecv(x)
1000,1600000,18,"void jacobi_pass_kernel<(int)16, (bool)0>(float *)"
3000,240000,17,"void jacobi_pass_kernel<(int)16, (bool)0>(float *)"
250000,100000,17,ncclDevKernel_SendRecv(x)
END
tables nsys "$temp/timeline.csv" --step 15
expect '^ +0 ns +1\.6 ms +18  jacobi_pass_kernel<16, 0>$' "the time line"
expect '^ +249 µs +349 µs +17  ncclDevKernel_SendRecv$' "the time line"
printf '# n\t1000\n' >"$temp/raw.csv"
cat >>"$temp/raw.csv" <<'END'
==PROF== Connected to process 7
"ID","Kernel Name","Block Size","Grid Size","gpu__time_duration.sum","dram__bytes.sum","dram__bytes_read.sum","smsp__issue_active.avg.per_cycle_active","smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio","smsp__average_warps_issue_stalled_wait_per_issue_active.ratio","smsp__average_warps_issue_stalled_wait_not_issued_per_issue_active.ratio","lts__t_bytes.sum"
"","","","","ns","byte","byte","inst/cycle","inst","inst","inst",""
"0","jacobi_sweep_kernel(float *)","(32, 4, 1)","(8, 8, 1)","1,500,500","8,500,000","4,500,000","0.25","2.5","7","99","n/a"
END
tables ncu "$temp/raw.csv" --step 08
expect '^jacobi_sweep_kernel, grid 8x8x1, block 32x4x1$' "ncu's page raw"
expect '^  No Eligible, of all cycles +75\.0 %$' "ncu's page raw"
expect '^    wait: a fixed latency +7$' "ncu's page raw"
expect_no ' 99$' "ncu's page raw"
tables ncu "$temp/raw.csv" --step 13
expect '^  DRAM bytes per point +8\.50 B$' "ncu's page raw"
expect '^  duration +1\.5[0-9]* ms$' "ncu's page raw"
expect_no 'L2 bytes per point' "a metric that cannot be had"
tables trim "$temp/raw.csv"
expect_no 'not_issued|==PROF' "trim"
cp "$temp/out" "$temp/trimmed.csv"
tables ncu "$temp/trimmed.csv" --step 08
expect '^    barrier: .* 2\.5$' "trim"
# Half of the cycles of 4 schedulers on 132 multiprocessors, which the waves of blocks say, over n²/32.
printf '# n\t8192\n' >"$temp/issued.csv"
cat >>"$temp/issued.csv" <<'END'
"ID","Kernel Name","Block Size","Grid Size","launch__grid_size","launch__waves_per_multiprocessor","launch__occupancy_limit_registers","launch__occupancy_limit_shared_mem","launch__occupancy_limit_warps","sm__cycles_elapsed.avg","smsp__issue_active.avg.per_cycle_active"
"","","","","","","block","block","block","cycle","inst/cycle"
"0","jacobi_sweep_kernel(float *)","(32, 4, 1)","(256, 256, 1)","65,536","31.03","16","23","17","400,000","0.5"
END
tables ncu "$temp/issued.csv" --step 04
expect '^  Instructions Issued For 32 Points +50$' "instructions"
printf 'nothing\n' >"$temp/empty.csv"
for tool in nsys ncu trim; do
  tables $tool "$temp/empty.csv"
  expect_status 1 "a report with nothing in it, $tool"
  expect '^profile_tables.py: .*/empty.csv: there is no ' "a report with nothing in it, $tool"
done

# Bad input.
for verb in nsys ncu; do
  refuses "which step\?" profile $verb
  refuses 'no such step' profile $verb STEP=42
  refuses 'WHICH=foo: must be' profile $verb STEP=06 WHICH=foo
  refuses 'N=1e3: must be a whole number' profile $verb STEP=06 N=1e3
  refuses 'ITERATIONS=x: must be a whole number' profile $verb STEP=06 ITERATIONS=x
  refuses 'BASELINE=last: must be previous' profile $verb STEP=06 BASELINE=last
  refuses 'there is no step before' profile $verb STEP=00 BASELINE=previous
  refuses 'cannot be read' profile $verb STEP=06 REPORT=/no/such.csv
done
refuses 'must be 6 or more' profile ncu STEP=06 ITERATIONS=3
profile ncu STEP=06 SET='full;x'
said_one_line 'SET=full;x: must be a name' "ncu SET=..."
refuses '03_larger_grid has no kernel' profile ncu STEP=04 BASELINE=previous

finish "make nsys, make ncu"
