#!/usr/bin/env bash
# In which function, and in which of its lines, `make check` says that a mistake is: in a copy of the lab, where the CPU runs
# the kernels.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need make cmake
make_temp
lab=$temp/lab
use_built
copy_tree "$lab"
[[ -d $lab/solutions ]] || skip "a handout has no solutions"

# given STEP SED-SCRIPT: the step's solution, edited, becomes the exercise; sets file.
given() {
  local solution
  solution=$(echo "$lab/solutions/$1"_*/jacobi.c*)
  file=${solution/solutions/exercises}
  sed -E "$2" "$solution" >"$file"
  if cmp -s "$solution" "$file"; then fail "the case '$2' changes nothing"; fi
}
# check STEP [VARIABLE=VALUE...]
check() { run make --no-print-directory -C "$lab" check STEP="$1" "${@:2}"; }
# ranks_run STEP: whether the check could start its ranks.
ranks_run() { ! grep -qE 'cannot run here|no MPI' <<<"$said" || { echo "$1: not tried without MPI" && false; }; }
line_of() { grep -n -m 1 "$1" "$file" | cut -d : -f 1; }
right="With the solution's code"

given 04 's/f_old\[idx\(i, j - 1, n\)\]/f_old[idx(i, j - 2, n)]/'
check 04
expect_status 2 "a wrong index"
expect "^  where: line $(line_of 'j - 2'), in jacobi_sweep_kernel. $right" "a wrong index"

# A line that is not there.
given 09 '0,/__syncthreads/ { /__syncthreads/d }'
check 09
before=$(($(grep -n -m 1 __syncthreads "${file/exercises/solutions}" | cut -d : -f 1) - 1))
expect "a race" "no barrier"
expect "^  where: after line $before, in jacobi_sweep_kernel. $right" "no barrier"

# Functions that belong together: the solution's kernel has other parameters than the learner's.
given 04 's/(void jacobi_sweep_kernel)\(float\* __restrict__ f_new/\1(int unused, float* __restrict__ f_new/
  s/(<<<grid, block>>>)\(f_new/\1(0, f_new/; s/j - 1, n\)\]/j - 2, n)]/; /^void copy_field/,/^}/s/j < n/n > j/'
check 04
expect "^  where: in jacobi_sweep_kernel or jacobi_sweep, or in what it needs from$" "another parameter"

# A kernel that is right, and given too little. With the solution's the program would be right as well.
given 09 's/^( *)__shared__ float (tile)\[kTileY\]\[kTileX\];/\1extern __shared__ float all[];\n\1float (*\2)[kTileX] = reinterpret_cast<float (*)[kTileX]>(all);/
  s/<<<grid, block>>>/<<<grid, block, kTileX * kTileY>>>/'
check 09
expect "the third value in <<<grid, block, bytes>>>" "too little shared memory"
expect_no "^  where: " "too little shared memory"

# A constant.
given 09 's/^(constexpr int kTileX = kBlockX \+) 2/\1 1/'
check 09
expect "^  where: in kTileX \(line $(line_of 'int kTileX')\)\. $right" "a constant"

# What is said of the functions that the line calls stays.
given 10 's/problem.initial_old\(\)/problem.initial_X()/; s/problem.initial_new\(\)/problem.initial_old()/; s/initial_X/initial_new/'
check 10
expect "^  where: lines $(line_of 'f_old, problem.initial_new') to $(line_of 'f_new, problem.initial_old'), in main\. " "starting values exchanged"
expect "^  look at: the calls of initialize_field in main: f_old gets" "starting values exchanged"

# Two that do not fit each other: which of them is wrong cannot be said.
given 04 's/dim3 block\(.*\);/dim3 block(16, 16);/; s/dim3 grid\(.*\);/dim3 grid((n + 15) \/ 16, (n + 15) \/ 16);/
  s/blockIdx.x \* blockDim.x/blockIdx.x * kBlockX/; s/blockIdx.y \* blockDim.y/blockIdx.y * kBlockY/'
check 04
expect "^  where: in jacobi_sweep_kernel .*, or in jacobi_sweep \(" "a block that the kernel does not expect"

# In a form that the solution has not: what makes the launch right.
own_form='s/jacobi_sweep_kernel/sweep/' in_sweep='/^double jacobi_sweep/,/^}/'
given 06 "$own_form; $in_sweep s/block\(kBlockX, kBlockY\)/block(kBlockX, 8)/"
check 06
expect "^  where: the launch grid at line $(line_of '<<<grid'), or which points each block has in its$" "too few blocks"
given 10 "$own_form; s/<<<grid, block>>>/<<<grid, block, 0, own_stream()>>>/
  s/^double jacobi_sweep\(/static cudaStream_t own_stream() {\n  static cudaStream_t own = nullptr;\n  if (!own) CUDA_CHECK(cudaStreamCreateWithFlags(\&own, cudaStreamNonBlocking));\n  return own;\n}\n&/"
check 10
expect "^  where: what starts at line $(line_of Memset): something uses its result, or its memory, too$" "a stream that nothing waits for"
expect "^  look at: the streams of these two lines" "a stream that nothing waits for"

# Then it is a race, whatever the field looks like. (The starting values are never freed, which would wait.)
given 11 's/jacobi_sweep_kernel/sweep/g; s/initialize_field/begin_with/g
  s/const lab::StartOnGpu on_gpu\(start\)/const lab::StartOnGpu\& on_gpu = *new lab::StartOnGpu(start)/
  /^void begin_with/,/^}/ { /DeviceSynchronize/d; s/<<<(.*)>>>/<<<\1, 0, own_stream()>>>/ }
  s/^void begin_with\(/static cudaStream_t own_stream() {\n  static cudaStream_t own = nullptr;\n  if (!own) CUDA_CHECK(cudaStreamCreateWithFlags(\&own, cudaStreamNonBlocking));\n  return own;\n}\n&/'
check 11
expect "^  diagnosis: a race: the host, or another stream, goes on before work that was$" "starting values that nothing waits for"
expect "^  where: what starts at line $(line_of 'own_stream()>>>'): something uses its result, or its memory, too$" "starting values that nothing waits for"
expect "^  look at: what uses the result of these lines: whether it waits for them" "starting values that nothing waits for"

# A kernel that goes over the blocks of a smaller launch grid, and forgets which of them it is at: with the solution's grid,
# which has one for each, it would be right.
given 04 's/^  const int j = blockIdx.y \* blockDim.y \+ threadIdx.y;/  for (int part = blockIdx.y; part * int(blockDim.y) < n; part += gridDim.y) {\n&/
  /^__global__ void jacobi_sweep_kernel/,/^}/ s/^}/  }\n}/; s/(const dim3 grid\(\(n \+ kBlockX - 1\) \/ kBlockX,) .*/\1 2);/'
check 04
expect "^  where: line $(line_of 'dim3 grid'), in jacobi_sweep, or which points its kernel" "a part of the grid"

# Two mistakes: neither function alone makes it right.
given 04 's/f_old\[idx\(i, j - 1, n\)\]/f_old[idx(i, j - 2, n)]/; s/start\(i, j\)/start(j, i)/'
check 04
expect "^04_.*: wrong" "two mistakes"
expect_no "^  where: " "two mistakes"

# A right program that misses its goal.
given 06 's/return std::size_t\(j\) \* n \+ i/return std::size_t(i) * n + j + 0/'
check 06
expect "Goal MISSED" "rows and columns exchanged"
expect "^  where: line $(line_of 'size_t(i) \* n'), in idx\. $right there, your program reaches" "rows and columns exchanged"

# What is said of other functions is left out.
given 14 's/min\(y_end, n\) - 1;/min(y_end, slab.end) - 1;/'
check 14 RANKS=2
if ranks_run 14; then
  expect "^  where: line $(line_of 'slab.end) - 1'), in march. $right" "a march that ends too early"
  expect_no "look at: exchange_halos" "a march that ends too early"
fi

# The residual of a multigrid program.
given 16 's/= 0.25 \* std::sqrt/= std::sqrt/'
check 16
expect "^  where: line $(line_of '= std::sqrt'), in main\. " "a residual four times as large"

# A group of NCCL's calls may begin with a receive.
given 15 '/NCCL_CHECK\(ncclSend/ { h; d }; /NCCL_CHECK\(ncclRecv/ { p; x }'
check 15 RANKS=2
if ranks_run 15; then
  run "$build_dir/bin/goals" --name 15_overlap --ranks 2 "$lab/build/bin/exercise_15_overlap_cpu"
  expect "Goal reached: each exchange may run alongside a kernel" "the receive first"
fi

# A goal that is missed by a kernel whose launch does not fit the solution's kernel: with that the program fails, and no
# goal is missed.
given 08 '/^  using BlockReduce/,/^  if \(threadIdx/d; s/^(  \/\/ All threads of the block).*/  atomicAdd(sum, thread_sum);/
  s/y \+= kThreadsY/y += blockDim.y/; s/dim3 block\(kBlockX, kThreadsY\)/dim3 block(kBlockX, 2 * kThreadsY)/'
check 08
expect "Goal MISSED: at most one atomic addition per block" "an atomic for each thread"
expect_no "^  where: " "an atomic for each thread"

# Without solutions there is the exercise of the step that begins with this one's; or there is none.
given 04 's/f_old\[idx\(i, j - 1, n\)\]/f_old[idx(i, j - 2, n)]/'
rm -rf "$lab/.start"
mkdir "$lab/.start"
(cd "$lab" && tar -cf - exercises/0*/jacobi.* | tar -C .start --strip-components=1 -xf -)
cp "${file/exercises/solutions}" "$lab/.start/04_jacobi_kernel/"
(cd "$lab/.start" && sha256sum ./*/* | sed 's#  ./#  .start/#' >SHA256SUMS)
rm -r "$lab/solutions"
check 04
expect "^  where: line $(line_of 'j - 2'), in jacobi_sweep_kernel. $right" "in a handout"
rm -r "$lab/.start/05_"*
check 04
expect "^04_.*: wrong" "without solutions"
expect_no "^  where: " "without solutions"

# What it leaves alone are entries of the catalogue.
names=$(sed -n '/case .mistake in/,/return 0/p' "$lab/scripts/lib/which_function.sh" | grep -oE '[a-z_]+_[a-z_]+')
[[ $(wc -w <<<"$names") -ge 5 ]] || fail "no names in which_function"
for name in $names; do
  grep -rqF "{\"$name\", " "$lab/validate/explain/mistakes" || fail "no entry $name"
done
finish "where mistakes are"
