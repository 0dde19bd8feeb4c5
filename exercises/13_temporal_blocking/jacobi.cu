// 13_temporal_blocking: several sweeps per trip to memory
//
// Start: the code of step 12.
// Task:  a pass reads the field once, performs kLevels sweeps and writes it once. Each row that a
//        warp has swept goes on to the next sweep while it is in registers. Strips overlap.
//
//   make check STEP=13
//   Ask the profiler: how can a code run past the memory roofline, and what is its limit now?

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#include <cub/block/block_reduce.cuh>

#include <lab/cuda_check.h>
#include <lab/gpu_memory.h>
#include <lab/options.h>
#include <lab/problem.h>
#include <lab/run.h>

constexpr int kDefaultN = 16384;  // points per side, unless --n says otherwise
constexpr int kCheckEvery = 10;   // sweeps from one residual to the next (--check-every)
constexpr int kLanes = 32;        // threads of a warp

// TODO(13): the constants of each stage.
//   1: kHalo = 16 columns at each end of a strip, which a pass may spoil; the warp stores the
//      kKept = 4 * kLanes - 2 * kHalo = 96 between them. From 1c on no kAhead, from 1d on no kRows
//      and 2 warps per block.
//   2: a ring of kRing = 8 rows per warp in shared memory.
//   3: kLevels = 16 sweeps per pass; those left over go one by one. kCheckEvery = 4 * kLevels.
//   4: kBlocks = 4 blocks per multiprocessor, the second number of __launch_bounds__ (the first:
//      threads per block): the compiler then leaves registers for them.
//   5: kSideRow = 3 rows that a row at a side counts for.
// What scripts/publish/experiments.py found best on an H200.
constexpr int kWarps = 4;  // warps per block, side by side
constexpr int kRows = 8;   // rows that a warp marches through
constexpr int kAhead = 3;  // rows in flight from memory, while one is swept

// Where point (i, j) stands in memory. i is x and j is y; both run from 0 to n - 1. A row is padded
// to a multiple of 32 floats, its pitch: the padding has no part in the result.
__host__ __device__ inline std::size_t idx(int i, int j, int n) {
  return std::size_t(j) * ((n + 31) / 32 * 32) + i;
}
__host__ __device__ inline int pitch_of(int n) { return int(idx(0, 1, n)); }

// Two fields of n rows: a sweep reads the old one and writes the new one. They are in the GPU's
// memory, as is the sum of the squared changes: the CPU cannot touch them, nothing migrates.
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

// TODO(13): stage 1a. Let the strips overlap. What a lane needs to know of its columns, in a warp
//   that has strip x of strips = (n + kKept - 1) / kKept:
//     const int x = blockIdx.x * kWarps + threadIdx.y;
//     const int lane = threadIdx.x, i_begin = x * kKept - kHalo;
//     const bool last = i_begin + kKept + kHalo >= n;      // is it the last strip?
//     const int i = i_begin - kHalo + 4 * lane;            // the first of the lane's four columns
//     const int column = min(max(i, 0), pitch_of(n) - 4);  // from here on it loads four
//     const bool stores = i >= max(i_begin, 0) && i < (last ? n : i_begin + kKept);
//   A warp's first column is 96 x - 32, so that each row that it loads begins with a line of 128
//   bytes. Beyond the grid any columns will do. `beyond` is not needed: what the lanes at the ends
//   get wrong is not stored. On the host a block now has kWarps * kKept columns.
// TODO(13): stage 1b. What each sweep remembers, struct Level: the last two rows that arrived.
//   sweep_row(level, north, i, n) gives the new values of the later one (1e: without i and n).
// TODO(13): stage 6. Instead of the earlier row keep its sums east + north ("pairs"). They are
//   south + west for the later row, one column further east. So sweep_row needs two additions per
//   point. It leaves out the factor 1/4, and the pass multiplies by all these factors at its end.
// What a lane holds of a row: four points side by side. Where the strip ends one neighbour is
// another warp's: lane 0 holds the point west of the strip too, and lane 31 the one east of it.
//
//              lane 0    lane 1         lane 31
//   ahead      o o o o | o o o o | ... | o o o o      in flight: no lane waits for them yet
//   north      n n n n | n n n n | ... | n n n n
//   centre   b c c c c | c c c c | ... | c c c c b    the row that is swept; b: beyond
//   south      s s s s | s s s s | ... | s s s s
struct Row {
  float4 four;
  float beyond;
};

// Loads a lane's part of row j, from column i on. Lanes past the row's end load its padding again.
__device__ inline Row load_row(const float* __restrict__ f, int i, int j, int n) {
  const float* row = f + idx(0, j, n);
  const int last = pitch_of(n) - 1;
  Row loaded;
  loaded.four = *reinterpret_cast<const float4*>(row + min(i, last - 3));
  loaded.beyond = 0.0f;
  const int beyond = threadIdx.x == 0 ? max(i - 1, 0) : min(i + 4, last);
  if (threadIdx.x == 0 || threadIdx.x == kLanes - 1) loaded.beyond = row[beyond];
  return loaded;
}

// The new values of a lane's points in the row between south and north.
__device__ inline float4 sweep_row(const Row& south, const Row& centre, const Row& north, int i,
                                   int n) {
  const float4 s = south.four, c = centre.four, t = north.four;
  float west = __shfl_up_sync(~0u, c.w, 1);    // the last point of the lane before
  float east = __shfl_down_sync(~0u, c.x, 1);  // the first one of the next lane
  if (threadIdx.x == 0) west = centre.beyond;
  if (threadIdx.x == kLanes - 1) east = centre.beyond;
  float4 value;
  value.x = 0.25f * ((c.y + t.x) + (west + s.x));
  value.y = 0.25f * ((c.z + t.y) + (c.x + s.y));
  value.z = 0.25f * ((c.w + t.z) + (c.y + s.z));
  value.w = 0.25f * ((east + t.w) + (c.z + s.w));
  // The boundary keeps its values, and so does the padding.
  if (i == 0) value.x = c.x;
  if (i >= n - 1) value.x = c.x;
  if (i + 1 >= n - 1) value.y = c.y;
  if (i + 2 >= n - 1) value.z = c.z;
  if (i + 3 >= n - 1) value.w = c.w;
  return value;
}

// TODO(13): stage 1c. march, a template of the number of sweeps: a device function that sweeps
//   rows j_begin to j_end - 1 of strip x. The rows that arrive begin kSweeps rows below the first
//   one that it stores, and end kSweeps rows above the last one. Each of them goes through all
//   levels. The row that comes out of the last level, kSweeps rows further down, is stored. A
//   second argument of the template, kSum, says whether the last sweep's changes are summed.
// TODO(13): stage 1d. jacobi_pass_kernel, with the same arguments of the template, calls it: at
//   first one warp per strip, with rows 1 to n - 2.
// TODO(13): stage 1e. keep. Row 0, row n - 1 and the outer columns keep their values at each level.
//   Then a warp marches through all n rows.
// TODO(13): stage 2. Let rows arrive by __pipeline_memcpy_async (from
//   <cuda_pipeline_primitives.h>), into a ring in shared memory: each lane fetches its own four
//   columns, kRing - 1 rows ahead. No barrier is needed. Each warp of a block has its own ring:
//     __shared__ float4 rings[kWarps][kRing][kLanes];
//     float4(*ring)[kLanes] = rings[threadIdx.y];  // ring[place][lane]
// TODO(13): stage 4. All strips, one after the other, are one long track, of which each warp of the
//   launch takes an equal share: warp number `warp` of `warps`. lab::multiprocessors() says how
//   many multiprocessors the GPU has.
//     const int length = strips;  // of the track, in strips
//     const auto total = std::ptrdiff_t(length) * n;
//     int share_begin = int(total * warp / warps);  // share_end: with warp + 1
// TODO(13): stage 5. kRing rounds in a row, careful ones or fast ones. A round is careful if a
//   level may sweep a row or a column of the boundary in it. In the first and the last strip, at
//   the sides, all are. So now length = strips + 2 * (kSideRow - 1).
// TODO(13): stage 7. Cut the track into a whole number of shares per strip, if at most an eighth of
//   the warps is then left over.
// A block has kWarps strips of 128 columns side by side; each warp marches up kRows rows of its
// strip.
__global__ void __launch_bounds__(kLanes* kWarps)
    jacobi_sweep_kernel(float* __restrict__ f_new, const float* __restrict__ f_old, double* sum,
                        int n) {
  const int strip_begin = (blockIdx.x * kWarps + threadIdx.y) * 4 * kLanes;
  const int i = strip_begin + 4 * threadIdx.x;  // the first of the lane's four columns
  const int j_begin = max(int(blockIdx.y) * kRows, 1);
  const int j_end = min(int(blockIdx.y + 1) * kRows, n - 1);
  double thread_sum = 0.0;
  if (strip_begin < n && j_begin < j_end) {  // all lanes of the warp, or none: they exchange values
    Row south = load_row(f_old, i, j_begin - 1, n), centre = load_row(f_old, i, j_begin, n);
    Row ahead[kAhead];
#pragma unroll
    for (int a = 0; a < kAhead; ++a) ahead[a] = load_row(f_old, i, min(j_begin + 1 + a, n - 1), n);
    for (int j = j_begin; j < j_end; j += kAhead) {
#pragma unroll  // so that each row in flight stays in its registers: to copy it is to wait for it
      for (int a = 0; a < kAhead && j + a < j_end; ++a) {
        const Row north = ahead[a];
        if (j + a + kAhead < j_end) ahead[a] = load_row(f_old, i, j + a + kAhead + 1, n);
        const float4 value = sweep_row(south, centre, north, i, n), old = centre.four;
        const double dx = value.x - old.x, dy = value.y - old.y, dz = value.z - old.z;
        const double dw = value.w - old.w;
        thread_sum += (dx * dx + dy * dy) + (dz * dz + dw * dw);
        // A streaming store: no cache need keep what this sweep does not read.
        if (i < pitch_of(n)) __stcs(reinterpret_cast<float4*>(f_new + idx(i, j + a, n)), value);
        south = centre;
        centre = north;
      }
    }
  }

  // All threads of the block take part. Those without a point bring zero.
  using BlockReduce = cub::BlockReduce<double, kLanes, cub::BLOCK_REDUCE_WARP_REDUCTIONS, kWarps>;
  __shared__ typename BlockReduce::TempStorage reduce_storage;
  const double block_sum = BlockReduce(reduce_storage).Sum(thread_sum);
  // Only the first thread has the result.
  if (threadIdx.x == 0 && threadIdx.y == 0) atomicAdd(sum, block_sum);
}

// TODO(13): stage 3. Split the sweeps into passes of kLevels, then of 1. Each pass swaps the
//   fields' roles once. Only the last one computes a sum, which is zero before.
// Performs sweeps over the interior, the fields changing roles after each. Returns the sum of the
// last one's squared changes; in double, as n^2 of them in float would lose too many digits.
double jacobi_sweeps(float** f_old, float** f_new, double* sum, int sweeps, int n) {
  nvtxRangePush("jacobi_sweeps");
  const dim3 block(kLanes, kWarps);
  const int columns = 4 * kLanes * kWarps;
  const dim3 grid((n + columns - 1) / columns, (n - 1 + kRows - 1) / kRows);
  for (int k = 1; k <= sweeps; ++k) {
    CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(double)));
    jacobi_sweep_kernel<<<grid, block>>>(*f_new, *f_old, sum, n);
    CUDA_CHECK(cudaGetLastError());  // was the launch accepted?
    std::swap(*f_old, *f_new);       // the new field is the old one of the next sweep
  }
  double host_sum;
  CUDA_CHECK(cudaMemcpy(&host_sum, sum, sizeof(double), cudaMemcpyDeviceToHost));  // and waits
  nvtxRangePop();
  return host_sum;
}

int main(int argc, char** argv) {
  const lab::Options options = lab::parse_options(argc, argv, {kDefaultN, kCheckEvery});
  const lab::Problem problem(options);
  const int n = options.n;

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
    const double squares = jacobi_sweeps(&f_old, &f_new, sum, sweeps, n);
    residual = std::sqrt(squares / (double(n) * n));
    iteration += sweeps;
    run.record(iteration, residual);
  }

  // If the result is wanted, some rows of it at a time are copied to the host, without
  // their padding: `width` bytes of each pitch.
  const int exit_code = run.finish([=](float* to, int j, int rows) {
    const std::size_t width = n * sizeof(float), pitch = pitch_of(n) * sizeof(float);
    CUDA_CHECK(
        cudaMemcpy2D(to, width, f_old + idx(0, j, n), pitch, width, rows, cudaMemcpyDeviceToHost));
  });
  free_fields(f_old, f_new, sum);
  return exit_code;
}
