// 14_multi_gpu: rows split over ranks, a GPU each
//
// Start: the code of step 13.
// Task:  several processes, the ranks, compute one field, each some of its rows. Before a pass they
//        exchange the rows next to their borders, as many as the pass has sweeps.
//
//   make check STEP=14, make run STEP=14 WHICH=exercise RANKS=4
//   Ask the profiler: where do ranks wait?

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include <cuda_pipeline_primitives.h>
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <lab/cuda_check.h>
#include <lab/gpu_memory.h>
#include <lab/options.h>
#include <lab/problem.h>
#include <lab/run.h>

// TODO(14): stage 1. Include lab/nccl_check.h and lab/ranks.h (it says what lab::Ranks does). A
//   default n of 32768.
constexpr int kDefaultN = 16384;  // points per side, unless --n says otherwise
constexpr int kLanes = 32;        // threads of a warp; each has four columns of its strip

// scripts/publish/experiments.py tries other values.
constexpr int kLevels = 16;               // sweeps per pass; those left over go one by one
constexpr int kCheckEvery = 4 * kLevels;  // sweeps from one residual to the next (--check-every)
constexpr int kWarps = 2;                 // warps per block; each marches by itself
constexpr int kBlocks = 4;  // blocks that a multiprocessor holds at once, with their registers
constexpr int kRing = 8;    // rows per warp in shared memory; all but one are in flight
constexpr int kHalo = 16;   // columns at each end of a strip that a pass may spoil: >= kLevels
constexpr int kKept = 4 * kLanes - 2 * kHalo;  // columns between them, which the warp stores
constexpr int kSideRow = 3;  // a row at the west or east side takes as long as this many others

// TODO(14): stage 1. struct Slab {int n, begin, end, held_begin, held_end}. The rank computes rows
//   begin to end - 1 of n, and holds kLevels more on each side that has a neighbour: its halo.
//   Split n rows evenly (for a large n the product n * rank does not fit in an int). From here on
//   the j of idx counts from held_begin.
// Where point (i, j) stands in memory. i is x and j is y; both run from 0 to n - 1. A row is padded
// to a multiple of 32 floats, its pitch: the padding has no part in the result.
__host__ __device__ inline std::size_t idx(int i, int j, int n) {
  return std::size_t(j) * ((n + 31) / 32 * 32) + i;
}
__host__ __device__ inline int pitch_of(int n) { return int(idx(0, 1, n)); }

// TODO(14): stage 1. Only the rows that the rank holds; ranks.require_gpu_memory(n, kLevels, bytes
//   per point).
// Two fields of n rows, and the sum of the squared changes, all in the GPU's memory.
void allocate_fields(float** f_old, float** f_new, double** sum, int n) {
  nvtxRangePush("allocate_fields");
  lab::require_gpu_memory(n, 2 * sizeof(float));
  const std::size_t bytes = idx(0, n, n) * sizeof(float);
  CUDA_CHECK(cudaMalloc(f_old, bytes));
  CUDA_CHECK(cudaMalloc(f_new, bytes));
  CUDA_CHECK(cudaMalloc(sum, sizeof(double)));
  nvtxRangePop();
}

void free_fields(float* f_old, float* f_new, double* sum) {
  nvtxRangePush("free_fields");
  CUDA_CHECK(cudaFree(f_old));
  CUDA_CHECK(cudaFree(f_new));
  CUDA_CHECK(cudaFree(sum));
  nvtxRangePop();
}

// TODO(14): stage 1. A block for each row that is held, also for those of the halo. start(i, j)
//   takes the j of the whole field.
__global__ void initialize_field_kernel(float* f, lab::StartingValue start, int n) {
  const int j = blockIdx.x;  // a block fills one row, padding included
  for (int i = threadIdx.x; i < pitch_of(n); i += blockDim.x) {
    f[idx(i, j, n)] = i < n ? start(i, j) : 0.0f;
  }
}

// Gives every point its starting value; no sweep changes those on the boundary.
void initialize_field(float* f, const lab::StartingField& start, int n) {
  nvtxRangePush("initialize_field");
  const lab::StartOnGpu on_gpu(start);  // the boundary's values, copied for the kernel
  initialize_field_kernel<<<n, kLanes * kWarps>>>(f, on_gpu.value(), n);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  nvtxRangePop();
}

// What a sweep remembers of a lane's columns: the row that arrived last, and for each point of the
// row south of it the sum of its eastern and northern neighbours. These two are also the southern
// and western neighbours of the point north-east of it, so one addition serves two points.
struct Level {
  float4 row;
  float4 pairs;
};

// Row `north` arrives. Returns 4 times the new values of level->row, the row south of it. All
// factors 1/4 wait until the end, because a power of 2 does not change how sums are rounded.
__device__ __forceinline__ float4 sweep_row(Level* level, float4 north) {
  const float4 c = level->row, before = level->pairs;
  const float east = __shfl_down_sync(~0u, c.x, 1);           // the next lane's first point
  const float south_west = __shfl_up_sync(~0u, before.w, 1);  // the previous lane's last pair
  const float4 pairs = {c.y + north.x, c.z + north.y, c.w + north.z, east + north.w};
  *level = {north, pairs};
  return {pairs.x + south_west, pairs.y + before.x, pairs.z + before.y, pairs.w + before.z};
}

__device__ __forceinline__ float4 times(float factor, float4 f) {
  return {factor * f.x, factor * f.y, factor * f.z, factor * f.w};
}

// The value stays the old one if its bit of `fixed` is set.
__device__ __forceinline__ float4 keep(float4 value, float4 old, unsigned fixed) {
  return {fixed & 1 ? old.x : value.x, fixed & 2 ? old.y : value.y, fixed & 4 ? old.z : value.z,
          fixed & 8 ? old.w : value.w};
}

// TODO(14): stage 1. In march: where a row stands (j - held_begin), for `from` and for `to`. What
//   keeps its values is still the boundary of the whole field.
// Performs kSweeps sweeps of rows j_begin to j_end - 1 of strip x. Row after row arrives, and goes
// through all levels at once:
//
//   row y, old       arrives: level[0] keeps it, and gives the new values of the row before:
//   row y - 1        after sweep 1: level[1] keeps it, and gives those of the row before:
//   row y - 2        after sweep 2: level[2] keeps it, ...
//   row y - kSweeps  after the last sweep: is stored
//
// Returns the lane's squared changes of the last sweep, if kSum asks for them.
template <int kSweeps, bool kSum>
__device__ double march(float* __restrict__ f_new, const float* __restrict__ f_old, int x,
                        int j_begin, int j_end, int n) {
  // The first strip begins kHalo columns beyond the side, so that every row that a warp fetches
  // begins with a line of 128 bytes, and every row that it stores with half of one.
  const int lane = threadIdx.x, i_begin = x * kKept - kHalo;
  const bool last = i_begin + kKept + kHalo >= n;      // the last strip stores all that it fetches
  const int i = i_begin - kHalo + 4 * lane;            // the first of the lane's four columns
  const int column = min(max(i, 0), pitch_of(n) - 4);  // beyond the grid any other one will do
  const bool stores = i >= max(i_begin, 0) && i < (last ? n : i_begin + kKept);
  unsigned fixed = 0;  // bit k: column i + k is on the boundary or beyond, and keeps its values
  for (int k = 0; k < 4; ++k) fixed |= unsigned(i + k <= 0 || i + k >= n - 1) << k;

  // Each lane fetches only what it reads itself, so no barrier is needed. Row y_begin + k goes to
  // place k % kRing.
  __shared__ float4 rings[kWarps][kRing][kLanes];
  float4(*ring)[kLanes] = rings[threadIdx.y];
  const int y_begin = max(j_begin - kSweeps, 0), y_end = j_end + kSweeps;
  const int y_last = min(y_end, n) - 1;  // the last row that the march needs
  const float* from = f_old + idx(column, y_begin, n);
  const auto fetch = [&](int row, int place) {
    __pipeline_memcpy_async(&ring[place][lane], from, sizeof(float4));
    __pipeline_commit();
    if (row < y_last) from += pitch_of(n);  // after the last row, that row again
  };

  constexpr float kScale = 1.0f / (1ull << 2 * kSweeps);  // 1/4 for each sweep
  Level level[kSweeps] = {};
  double thread_sum = 0.0;
  float* to = f_new + idx(column, j_begin, n);
  const auto arrive = [&](int y, int place, bool careful) {  // careful: a boundary may be near
    __pipeline_wait_prior(kRing - 2);  // row y is there, the rows after it are in flight
    fetch(y + kRing - 1, (place + kRing - 1) % kRing);  // to where row y - 1 was
    float4 row = ring[place][lane], old;
#pragma unroll
    for (int l = 0; l < kSweeps; ++l) {
      old = times(4, level[l].row);
      row = sweep_row(&level[l], row);
      if (careful) row = keep(row, old, y - l <= 1 || y - l >= n ? 15 : fixed);
    }
    const bool stored = stores && y >= j_begin + kSweeps && y < y_end;
    if (stored) {
      *reinterpret_cast<float4*>(to) = times(kScale, row);
      to += pitch_of(n);
    }
    if constexpr (kSum) {  // not in the branch above, where a pass takes much longer
      const double a = row.x - old.x, b = row.y - old.y, c = row.z - old.z, d = row.w - old.w;
      const double squares = (a * a + b * b) + (c * c + d * d);
      thread_sum += stored ? squares : 0.0;
    }
  };

  for (int k = 0; k < kRing - 1; ++k) fetch(y_begin + k, k);
  for (int y = y_begin; y < y_end; y += kRing) {
    if (x == 0 || last || y <= kSweeps || y + kRing > n) {
#pragma unroll 1
      for (int k = 0; k < kRing; ++k) arrive(y + k, k, true);
    } else {
#pragma unroll  // so that `place` is a number, and each row of a level stays in its registers
      for (int k = 0; k < kRing; ++k) arrive(y + k, k, false);
    }
  }
  __pipeline_wait_prior(0);  // a few rows too many were fetched, and the ring is used again
  return double(kScale) * kScale * thread_sum;
}

// TODO(14): stage 1. In the kernel: the track has the rank's own rows only, begin to end - 1.
// A pass of kSweeps sweeps. All strips, one after the other, are one long track, of which each warp
// takes an equal share. At a side each row counts kSideRow times, as all of them need care. With
// kSum, which only a pass before a residual has, the changes of the last sweep are squared and
// summed.
template <int kSweeps, bool kSum>
__global__ void __launch_bounds__(kLanes* kWarps, kBlocks)
    jacobi_pass_kernel(float* __restrict__ f_new, const float* __restrict__ f_old, double* sum,
                       int n) {
  const int strips = (n + kKept - 1) / kKept;
  const int warps = gridDim.x * kWarps, warp = blockIdx.x * kWarps + threadIdx.y;
  const int length = strips + 2 * (kSideRow - 1);  // of the track, in strips
  // With a whole number of shares per strip, neighbouring strips are swept side by side, and what
  // two warps read comes from memory only once. So a few warps may be left over, without a share.
  const int left_over = warps % length, shares = left_over <= warps / 8 ? warps - left_over : warps;
  const auto total = std::ptrdiff_t(length) * n;
  int share_begin = int(total * warp / shares), share_end = int(total * (warp + 1) / shares);
  double thread_sum = 0.0;
  for (int x = 0; x < strips; ++x) {  // the share's rows of strip x, if there are any
    const bool side = x == 0 || x == strips - 1;
    const int j_begin = max(side ? share_begin / kSideRow : share_begin, 0);
    const int j_end = min(side ? share_end / kSideRow : share_end, n);
    if (j_begin < j_end) thread_sum += march<kSweeps, kSum>(f_new, f_old, x, j_begin, j_end, n);
    share_begin -= side ? kSideRow * n : n;  // to be counted from the next strip on
    share_end -= side ? kSideRow * n : n;
  }

  if constexpr (kSum) {
    for (int k = kLanes / 2; k > 0; k /= 2) thread_sum += __shfl_down_sync(~0u, thread_sum, k);
    if (threadIdx.x == 0) atomicAdd(sum, thread_sum);
  }
}

// TODO(14): stage 2. exchange_halos, before each pass of that many sweeps: as many rows to each
//   neighbour, and as many from it. If ranks.has_nccl(): ncclSend and ncclRecv of both sides
//   between ncclGroupStart and ncclGroupEnd, in NCCL_CHECK; else ranks.exchange_through_host. Then
//   ranks.wait(nullptr). It has an NVTX range, and so has a pass: jacobi_pass.
// Performs sweeps, many per pass. Returns the sum of the last one's squared changes, in double.
double jacobi_sweeps(float** f_old, float** f_new, double* sum, int sweeps, int n, int blocks) {
  nvtxRangePush("jacobi_sweeps");
  CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(double)));
  while (sweeps > 0) {
    const bool whole = sweeps >= kLevels;
    sweeps -= whole ? kLevels : 1;
    const auto with_sum = whole ? jacobi_pass_kernel<kLevels, true> : jacobi_pass_kernel<1, true>;
    const auto without = whole ? jacobi_pass_kernel<kLevels, false> : jacobi_pass_kernel<1, false>;
    const auto pass_kernel = sweeps == 0 ? with_sum : without;  // only the last one's changes
    pass_kernel<<<blocks, dim3(kLanes, kWarps)>>>(*f_new, *f_old, sum, n);
    CUDA_CHECK(cudaGetLastError());  // was the launch accepted?
    std::swap(*f_old, *f_new);       // the new field is the old one of the next pass
  }
  // TODO(14): stage 3. The sum over all ranks, once per check, in an NVTX range, residual:
  //   ncclAllReduce, or without NCCL ranks.sum. Queue its copy to the host, to pinned memory that
  //   allocate_fields allocates, then wait once, with ranks.wait.
  double host_sum;
  CUDA_CHECK(cudaMemcpy(&host_sum, sum, sizeof(double), cudaMemcpyDeviceToHost));  // and waits
  nvtxRangePop();
  return host_sum;
}

int main(int argc, char** argv) {
  // TODO(14): stage 1. lab::Ranks ranks(&argc, &argv) comes first; after the options
  //   ranks.require_rows(n, kLevels) and ranks.connect().
  const lab::Options options = lab::parse_options(argc, argv, {kDefaultN, kCheckEvery});
  const lab::Problem problem(options);
  const int n = options.n;
  const int blocks = kBlocks * lab::multiprocessors();  // as many as the GPU holds at once

  float *f_old, *f_new;
  double* sum;
  allocate_fields(&f_old, &f_new, &sum, n);
  initialize_field(f_old, problem.initial_old(), n);
  initialize_field(f_new, problem.initial_new(), n);

  lab::Run run(options, problem);
  int iteration = 0;
  double residual = std::numeric_limits<double>::infinity();
  while (residual > options.tolerance && iteration < options.max_iterations) {
    const int sweeps = std::min(options.check_every, options.max_iterations - iteration);
    const double squares = jacobi_sweeps(&f_old, &f_new, sum, sweeps, n, blocks);
    residual = std::sqrt(squares / (double(n) * n));
    iteration += sweeps;
    run.record(iteration, residual);
  }

  // If the result is wanted, some rows of it at a time are copied to the host, without their
  // padding: `width` bytes of each pitch.
  // TODO(14): stage 1. ranks.finish(run, begin, end, ...): rank 0 asks each rank for its own rows.
  const int exit_code = run.finish([=](float* to, int j, int rows) {
    const std::size_t width = n * sizeof(float), pitch = pitch_of(n) * sizeof(float);
    CUDA_CHECK(
        cudaMemcpy2D(to, width, f_old + idx(0, j, n), pitch, width, rows, cudaMemcpyDeviceToHost));
  });
  free_fields(f_old, f_new, sum);
  return exit_code;
}
