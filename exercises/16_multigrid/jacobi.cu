// 16_multigrid: coarser grids carry away what sweeps cannot
//
// Start: the code of step 10.
// Task:  an iteration becomes a cycle over grids of n, n / 2 + 1, ... and 3 points per side. Each
//        level damps, with two sweeps, the errors that no coarser one can show.
//
//   make check STEP=16
//   Ask the profiler: how long until the answer is right, and which levels take that time?

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

// TODO(16): stage 1. n = 16384; kMaxLevels = 21 is enough for 2^20 points per side. Stage 3:
//   kOmegaBefore = 1.39f and kOmegaAfter = 0.56f. Stage 7: kSmallN = 33, the maximum of points per
//   side for a level that one block deals with. Stage 8: kStartCycles = 2.
constexpr int kDefaultN = 8192;  // points per side, unless --n says otherwise
constexpr int kBlockX = 32;      // points per block along i, and threads: one warp
constexpr int kBlockY = 32;      // points per block along j
constexpr int kThreadsY = 4;     // threads per block along j in the sweep, for kBlockY points

constexpr int kTileX = kBlockX + 2;  // a block's points and a halo one point wide around them
constexpr int kTileY = kBlockY + 2;

// TODO(16): stage 1. struct Level: n, and three fields of n x n floats in the GPU's memory: the
//   solution u, its defect r and its correction e. struct Levels: their number, and an array of
//   kMaxLevels of them, from fine to coarse. Kernels take both as arguments. Stage 6: a Level also
//   has its ratio, the distance between its points in distances of the coarser level.
// Where point (i, j) stands in memory. i is x and j is y; both run from 0 to n - 1.
__host__ __device__ inline std::size_t idx(int i, int j, int n) { return std::size_t(j) * n + i; }

// TODO(16): stage 1. allocate_levels and free_levels. Below n points per side come n / 2 + 1, and
//   the last level has 3. Set u, r and e to 0: r and e stay so on the boundary. All levels together
//   take a third more memory than the finest. Stage 2: f_old and f_new go, and with them the sweep.
// Two fields of n x n floats: a sweep reads the old one and writes the new one. They are in the
// GPU's memory, as is the sum of the squared changes: the CPU cannot touch them, nothing migrates.
void allocate_fields(float** f_old, float** f_new, double** sum, int n) {
  nvtxRangePush("allocate_fields");
  lab::require_gpu_memory(n, 2 * sizeof(float));
  const std::size_t bytes = std::size_t(n) * n * sizeof(float);
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

// TODO(16): stage 2. The same for u of the finest level, from problem.initial_old().
__global__ void initialize_field_kernel(float* f, lab::StartingValue start, int n) {
  const int j = blockIdx.x;  // a block fills one row
  for (int i = threadIdx.x; i < n; i += blockDim.x) f[idx(i, j, n)] = start(i, j);
}

// Gives every point its starting value; no sweep changes those on the boundary.
void initialize_field(float* f, const lab::StartingField& start, int n) {
  nvtxRangePush("initialize_field");
  const lab::StartOnGpu on_gpu(start);  // the boundary's values, copied for the kernel
  initialize_field_kernel<<<n, kBlockX * kBlockY>>>(f, on_gpu.value(), n);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  nvtxRangePop();
}

// TODO(16): stage 2. defect_kernel(level, sum): r = ((east + north) + (west + south)) - 4 u at each
//   interior point, computed in double. It sums the squares of r as this kernel sums those of the
//   changes. No tile: one value of u serves five points through the L1 cache. add_kernel(level): u
//   += r / 4, for now. The two are Jacobi's sweep in two parts.
// TODO(16): stage 3. correct_kernel(level, rows), in place of add_kernel: a thread marches through
//   `rows` points of column i, without a tile. The first sweep begins with e = 0, so it gives omega
//   / 4 * r with omega = kOmegaBefore, at the point and at its four neighbours. Then the point
//   moves kOmegaAfter times the way from its own value to (east + north + west + south + r) / 4,
//   and the result is added to u. A thread without an interior point must not read any.
// TODO(16): stage 4, for n = 2^k + 1. restrict_kernel(fine, coarse): a thread computes coarse.r at
//   one point, which is on a fine point. It gathers its share of each defect that the first sweep
//   leaves there and around it, 3 x 3: 1, 1/2 or 1/4. The sweep leaves r - (4 e - the neighbours'
//   e), with its e = omega / 4 * r. No atomicAdd is needed.
// TODO(16): stage 5, for n = 2^k + 1. interpolated(f, m, i, j): the value of f, a field of m x m
//   points, at point (i, j) of the finer level, linear along x and y. correct_kernel(fine, coarse,
//   add_to_u, rows): each value that the first sweep gives also gets coarse.e, interpolated. The
//   finest level adds the result to u; all others store it in e. The last level has one interior
//   point, and its correction is r / 4.
// TODO(16): stage 6, for any n. interpolated(f, m, ratio, i, j): `ratio` is the distance between
//   points (i, j), in distances of f's. restrict_kernel: a fine point's share is the weight of the
//   coarse point in its interpolation. It is above 0 for 4 x 4 points at most.
// TODO(16): stage 7. restrict_point and correct_points: what the kernels do, as device functions
//   that get i and j. small_levels_kernel(levels, k, add_to_u): one block of 32 x 32 threads goes
//   down from level k, and back up, with a barrier between two levels.
// TODO(16): stage 8. interpolate_kernel(to, from, boundary): fills u of a level, on the boundary or
//   at all points inside it, from u of another level.
// A block updates kBlockX x kBlockY points: its thread (x, y) has those of column x in the rows y,
// y + kThreadsY, y + 2 kThreadsY ...
__global__ void jacobi_sweep_kernel(float* __restrict__ f_new, const float* __restrict__ f_old,
                                    double* sum, int n) {
  // tile[y + 1][x + 1] is point (x, y) of the block's part of the grid; the ring around them is the
  // halo, points of the blocks next door. All threads share the loading, 128 points per round, so
  // that warps stay full where rows end.
  __shared__ float tile[kTileY][kTileX];
  for (int k = threadIdx.y * kBlockX + threadIdx.x; k < kTileX * kTileY; k += kBlockX * kThreadsY) {
    const int tile_x = k % kTileX, tile_y = k / kTileX;
    const int i = blockIdx.x * kBlockX + tile_x - 1;
    const int j = blockIdx.y * kBlockY + tile_y - 1;
    if (i >= 0 && i < n && j >= 0 && j < n) tile[tile_y][tile_x] = f_old[idx(i, j, n)];
  }
  __syncthreads();  // no thread reads the tile before all have written it

  const int x = threadIdx.x;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  double thread_sum = 0.0;
  for (int y = threadIdx.y; y < kBlockY; y += kThreadsY) {
    const int j = blockIdx.y * kBlockY + y;

    // The launch grid is rounded up to whole blocks: not every thread has an interior point.
    if (i >= 1 && i < n - 1 && j >= 1 && j < n - 1) {
      const float east = tile[y + 1][x + 2];
      const float north = tile[y + 2][x + 1];
      const float west = tile[y + 1][x];
      const float south = tile[y][x + 1];
      const float value = 0.25f * ((east + north) + (west + south));
      const double change = value - tile[y + 1][x + 1];
      f_new[idx(i, j, n)] = value;
      thread_sum += change * change;
    }
  }

  // All threads of the block take part. Those without a point bring zero.
  using BlockReduce =
      cub::BlockReduce<double, kBlockX, cub::BLOCK_REDUCE_WARP_REDUCTIONS, kThreadsY>;
  __shared__ typename BlockReduce::TempStorage reduce_storage;
  const double block_sum = BlockReduce(reduce_storage).Sum(thread_sum);
  // Only the first thread has the result.
  if (threadIdx.x == 0 && threadIdx.y == 0) atomicAdd(sum, block_sum);
}

// TODO(16): stage 2. cycle(levels, sum), in place of jacobi_sweep: sum = 0, then defect_kernel and
//   add_kernel on the finest level. main copies the sum to the host.
// TODO(16): stage 4. After the defect, the cycle restricts from each level to the next, as far as
//   the last one.
// TODO(16): stage 5. The cycle solves the last level, and then corrects each level on the way back
//   to the finest. Stage 7: it leaves levels of up to kSmallN points per side to
//   small_levels_kernel.
// TODO(16): stage 8. cycle(levels, top, sum) begins on level `top`, and adds to the u of that one.
//   start_from_coarser_levels(levels, sum): the boundary's values of u go down, from each level to
//   the next. Then, from the last level to level 1: kStartCycles cycles, and u of the next finer
//   level's interior is interpolated from the result.
// One sweep over the interior. Returns the sum of the squared changes. It is a double, because a
// float sum of n^2 terms can be off by more than the contribution of a whole row.
double jacobi_sweep(float* f_new, const float* f_old, double* sum, int n) {
  nvtxRangePush("jacobi_sweep");
  CUDA_CHECK(cudaMemset(sum, 0, sizeof(double)));
  const dim3 block(kBlockX, kThreadsY);
  const dim3 grid((n + kBlockX - 1) / kBlockX, (n + kBlockY - 1) / kBlockY);
  jacobi_sweep_kernel<<<grid, block>>>(f_new, f_old, sum, n);
  CUDA_CHECK(cudaGetLastError());       // was the launch accepted?
  CUDA_CHECK(cudaDeviceSynchronize());  // did the kernel run to its end?
  double host_sum;
  CUDA_CHECK(cudaMemcpy(&host_sum, sum, sizeof(double), cudaMemcpyDeviceToHost));
  nvtxRangePop();
  return host_sum;
}

int main(int argc, char** argv) {
  const lab::Options options = lab::parse_options(argc, argv, {kDefaultN});
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
    // TODO(16): stage 2. A cycle instead of the sweep; nothing is swapped. The residual is that of
    //   a Jacobi sweep, whose change is a quarter of the defect.
    // TODO(16): stage 8. Before the first cycle, the start from the coarser levels.
    const double squares = jacobi_sweep(f_new, f_old, sum, n);
    residual = std::sqrt(squares / (double(n) * n));
    std::swap(f_old, f_new);  // the new field is the old one of the next sweep
    run.record(++iteration, residual);
  }

  // TODO(16): stage 2. u of the finest level.
  // If the result is wanted, some whole rows of it at a time are copied to the host.
  const int exit_code = run.finish([=](float* to, int j, int rows) {
    const std::size_t bytes = std::size_t(rows) * n * sizeof(float);
    CUDA_CHECK(cudaMemcpy(to, f_old + idx(0, j, n), bytes, cudaMemcpyDeviceToHost));
  });
  free_fields(f_old, f_new, sum);
  return exit_code;
}
