// 16_multigrid: coarser grids carry away what sweeps cannot
//
// Changed: a sweep makes an error smooth, and hardly makes it smaller. What is smooth also shows on
// a coarser grid, with a quarter of the points: there it is corrected, by two sweeps and a still
// coarser grid. An iteration is such a cycle, from the finest level down to three points a side and
// back. The first one begins with what the coarser levels found.
//
//   make check STEP=16
//   Ask the profiler: how long until the answer is right, and which levels take that time?

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#include <cub/block/block_reduce.cuh>

#include <lab/cuda_check.h>
#include <lab/gpu_memory.h>
#include <lab/options.h>
#include <lab/problem.h>
#include <lab/run.h>

constexpr int kDefaultN = 16384;  // points a side, unless --n says otherwise
constexpr int kBlockX = 32;       // points a block along i, and threads: one warp
constexpr int kBlockY = 32;       // points a block along j
constexpr int kThreadsY = 4;      // threads a block along j, for kBlockY points

constexpr int kTileX = kBlockX + 2;  // a block's points and a halo one point wide around them
constexpr int kTileY = kBlockY + 2;
constexpr int kCoarseX = kBlockX / 2;  // coarse points a block: a tile of fine points gives these
constexpr int kCoarseY = kBlockY / 2;

constexpr int kSmallN = kBlockX + 2;  // one block corrects all levels of at most so many points
constexpr int kMaxLevels = 21;        // enough for 2^20 points a side
constexpr int kStartCycles = 2;       // cycles on each coarser level, to begin with

// How far a sweep goes towards the mean of the four neighbours. An error that changes sign from
// point to point is multiplied by 1 - omega * lambda, with lambda between 1/2 and 2 for all that a
// coarser grid cannot show. These two are best for that range (Chebyshev): at most 0.22 is left.
constexpr float kOmegaBefore = 1.39f;  // of the sweep before the coarser level's correction
constexpr float kOmegaAfter = 0.56f;   // of the one after it

// One grid of n x n points over the unit square. The next coarser one has n / 2 + 1 points a side:
// for odd n every second point of this one; for even n its points lie between those of this one.
struct Level {
  int n;
  double* u;  // the solution so far: a float has too few digits for its defect
  float* r;   // the defect to correct: east + north + west + south - 4 u
  float* e;   // the correction: its own defect is -r
};

struct Levels {
  int count = 0;
  Level level[kMaxLevels];  // from fine to coarse; the last one has 3 points a side
};

// Where point (i, j) stands in memory. i is x and j is y; both run from 0 to n - 1.
__host__ __device__ inline std::size_t idx(int i, int j, int n) { return std::size_t(j) * n + i; }

// All levels. Defects and corrections are 0 on the boundary, and no kernel changes them there.
Levels allocate_levels(double** sum, int n) {
  nvtxRangePush("allocate_levels");
  lab::require_gpu_memory(n, 4 * (sizeof(double) + 2 * sizeof(float)) / 3 + 1);
  Levels levels;
  for (int m = n; m >= 3; m = m / 2 + 1) {
    Level& level = levels.level[levels.count++];
    level.n = m;
    const std::size_t points = std::size_t(m) * m;
    CUDA_CHECK(cudaMalloc(&level.u, points * sizeof(double)));
    CUDA_CHECK(cudaMalloc(&level.r, points * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&level.e, points * sizeof(float)));
    CUDA_CHECK(cudaMemset(level.r, 0, points * sizeof(float)));
    CUDA_CHECK(cudaMemset(level.e, 0, points * sizeof(float)));
  }
  CUDA_CHECK(cudaMalloc(sum, sizeof(double)));
  nvtxRangePop();
  return levels;
}

void free_levels(const Levels& levels, double* sum) {
  nvtxRangePush("free_levels");
  for (int k = 0; k < levels.count; ++k) {
    CUDA_CHECK(cudaFree(levels.level[k].u));
    CUDA_CHECK(cudaFree(levels.level[k].r));
    CUDA_CHECK(cudaFree(levels.level[k].e));
  }
  CUDA_CHECK(cudaFree(sum));
  nvtxRangePop();
}

__global__ void initialize_field_kernel(double* u, lab::StartingValue start, int n) {
  const int j = blockIdx.x;  // a block fills one row
  for (int i = threadIdx.x; i < n; i += blockDim.x) u[idx(i, j, n)] = start(i, j);
}

// Gives every point its starting value; no cycle changes those on the boundary.
void initialize_field(double* u, const lab::StartingField& start, int n) {
  nvtxRangePush("initialize_field");
  const lab::StartOnGpu on_gpu(start);  // the boundary's values, copied for the kernel
  initialize_field_kernel<<<n, kBlockX * kBlockY>>>(u, on_gpu.value(), n);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  nvtxRangePop();
}

// The value of a field of m x m points where point (i, j) of n x n points is: linear along x and y.
template <typename T>
__device__ T interpolated(const T* f, int m, int i, int j, int n) {
  const double ratio = double(m - 1) / (n - 1), x = i * ratio, y = j * ratio;
  const int left = min(int(x), m - 2), low = min(int(y), m - 2);
  const T a = x - left, b = y - low;
  const T* south = f + idx(left, low, m);
  const T* north = south + m;
  return (1 - b) * ((1 - a) * south[0] + a * south[1]) + b * ((1 - a) * north[0] + a * north[1]);
}

// Fills `to` from a level coarser or finer, without the outermost `rim` points.
__global__ void interpolate_kernel(Level to, Level from, int rim) {
  const int i = blockIdx.x * kBlockX + threadIdx.x;
  for (int y = threadIdx.y; y < kBlockY; y += kThreadsY) {
    const int j = blockIdx.y * kBlockY + y;
    if (i < rim || i >= to.n - rim || j < rim || j >= to.n - rim) continue;
    to.u[idx(i, j, to.n)] = interpolated(from.u, from.n, i, j, to.n);
  }
}

// The defect of u; adds its squares to sum.
__global__ void defect_kernel(Level level, double* sum) {
  const int n = level.n, i = blockIdx.x * kBlockX + threadIdx.x;
  double thread_sum = 0.0;
  for (int y = threadIdx.y; y < kBlockY; y += kThreadsY) {
    const int j = blockIdx.y * kBlockY + y;

    // The launch grid is rounded up to whole blocks: not every thread has an interior point.
    if (i >= 1 && i < n - 1 && j >= 1 && j < n - 1) {
      const double* u = level.u + idx(i, j, n);
      const double defect = ((u[1] + u[n]) + (u[-1] + u[-n])) - 4 * u[0];
      level.r[idx(i, j, n)] = defect;
      thread_sum += defect * defect;
    }
  }

  // All threads of the block take part, those without a point too (they bring zero).
  using BlockReduce =
      cub::BlockReduce<double, kBlockX, cub::BLOCK_REDUCE_WARP_REDUCTIONS, kThreadsY>;
  __shared__ typename BlockReduce::TempStorage reduce_storage;
  const double block_sum = BlockReduce(reduce_storage).Sum(thread_sum);
  // The result is the first thread's alone.
  if (threadIdx.x == 0 && threadIdx.y == 0) atomicAdd(sum, block_sum);
}

// The correction begins with 0, so the first sweep gives omega / 4 * r. This is the defect that it
// leaves at point (i, j); 0 on the boundary.
__device__ inline float defect_after_sweep(const Level& level, int i, int j) {
  const int n = level.n;
  if (i < 1 || i >= n - 1 || j < 1 || j >= n - 1) return 0.0f;
  const float* r = level.r + idx(i, j, n);
  return r[0] + kOmegaBefore * (0.25f * ((r[1] + r[n]) + (r[-1] + r[-n])) - r[0]);
}

// The first point of n that lies beyond point `coarse` of m points on the same line.
__device__ inline int first_beyond(int coarse, int m, int n) {
  return int(coarse * (double(n - 1) / (m - 1))) + 1;
}

// The coarse r of kCoarseX x kCoarseY points. Each gets its shares of the defects that the sweep
// leaves at the fine points around it: as much of each as `interpolated` takes from it there. The
// shares of a point sum up to (coarse distance / fine distance)^2, by which the defects differ.
__device__ void restrict_tile(const Level& fine, const Level& coarse, int block_x, int block_y) {
  __shared__ float tile[kTileY][kTileX];
  const int n = fine.n, m = coarse.n, threads = kBlockX * blockDim.y;
  const int i_begin = first_beyond(block_x * kCoarseX, m, n);
  const int j_begin = first_beyond(block_y * kCoarseY, m, n);
  for (int k = threadIdx.y * kBlockX + threadIdx.x; k < kTileX * kTileY; k += threads) {
    const int x = k % kTileX, y = k / kTileX;
    tile[y][x] = defect_after_sweep(fine, i_begin + x, j_begin + y);
  }
  __syncthreads();  // no thread reads the tile before all have written it

  const double ratio = double(m - 1) / (n - 1);
  for (int k = threadIdx.y * kBlockX + threadIdx.x; k < kCoarseX * kCoarseY; k += threads) {
    const int i = 1 + block_x * kCoarseX + k % kCoarseX;  // of the coarse point
    const int j = 1 + block_y * kCoarseY + k / kCoarseX;
    if (i >= m - 1 || j >= m - 1) continue;
    float sum = 0.0f;
    for (int y = first_beyond(j - 1, m, n); y * ratio < j + 1; ++y) {
      float row_sum = 0.0f;
      for (int x = first_beyond(i - 1, m, n); x * ratio < i + 1; ++x) {
        row_sum += float(1 - fabs(x * ratio - i)) * tile[y - j_begin][x - i_begin];
      }
      sum += float(1 - fabs(y * ratio - j)) * row_sum;
    }
    coarse.r[idx(i, j, m)] = sum;
  }
}

// On the finest level a correction is added to the solution; the others keep it for that one.
__device__ inline void store(const Level& level, bool add_to_u, int i, int j, float correction) {
  if (add_to_u) {
    level.u[idx(i, j, level.n)] += correction;
  } else {
    level.e[idx(i, j, level.n)] = correction;
  }
}

// The correction of a block's points: the sweep before, what the coarse level found, and the sweep
// after.
__device__ void correct_tile(const Level& fine, const Level& coarse, bool add_to_u, int block_x,
                             int block_y) {
  // tile[y][x] is point (i_begin + x, j_begin + y): the block's points, and a halo around them.
  __shared__ float tile[kTileY][kTileX];
  const int n = fine.n, i_begin = block_x * kBlockX, j_begin = block_y * kBlockY;
  for (int k = threadIdx.y * kBlockX + threadIdx.x; k < kTileX * kTileY;
       k += kBlockX * blockDim.y) {
    const int x = k % kTileX, y = k / kTileX;
    const int i = min(i_begin + x, n - 1), j = min(j_begin + y, n - 1);
    const float swept = 0.25f * kOmegaBefore * fine.r[idx(i, j, n)];
    tile[y][x] = swept + interpolated(coarse.e, coarse.n, i, j, n);
  }
  __syncthreads();  // no thread reads the tile before all have written it

  const int x = threadIdx.x + 1, i = i_begin + x;
  for (int y = threadIdx.y + 1; y <= kBlockY; y += blockDim.y) {
    const int j = j_begin + y;
    if (i >= n - 1 || j >= n - 1) continue;
    const float neighbours = (tile[y][x + 1] + tile[y + 1][x]) + (tile[y][x - 1] + tile[y - 1][x]);
    const float mean = 0.25f * (neighbours + fine.r[idx(i, j, n)]);
    store(fine, add_to_u, i, j, tile[y][x] + kOmegaAfter * (mean - tile[y][x]));
  }
}

__global__ void restrict_kernel(Level fine, Level coarse) {
  restrict_tile(fine, coarse, blockIdx.x, blockIdx.y);
}

__global__ void correct_kernel(Level fine, Level coarse, bool add_to_u) {
  correct_tile(fine, coarse, add_to_u, blockIdx.x, blockIdx.y);
}

// The same for level k, which is small, and all below it: launches for each would take longer.
__global__ void small_levels_kernel(Levels levels, int k, bool add_to_u) {
  int l = k;
  for (; l < levels.count - 1; ++l) {
    restrict_tile(levels.level[l], levels.level[l + 1], 0, 0);
    __syncthreads();
  }
  // 3 x 3 points: the one inside has an equation of its own.
  const Level& last = levels.level[l];
  if (threadIdx.x == 0 && threadIdx.y == 0) store(last, add_to_u && l == k, 1, 1, last.r[4] / 4);
  while (--l >= k) {
    __syncthreads();
    correct_tile(levels.level[l], levels.level[l + 1], add_to_u && l == k, 0, 0);
  }
}

// Blocks of `x` x `y` points that cover a level.
dim3 blocks_for(const Level& level, int x, int y) {
  return dim3((level.n + x - 1) / x, (level.n + y - 1) / y);
}

// Corrects level k by its own two sweeps and by the levels below it.
void correct(const Levels& levels, int k, bool add_to_u) {
  const dim3 block(kBlockX, kThreadsY);
  const Level &fine = levels.level[k], &coarse = levels.level[k + 1];
  if (fine.n <= kSmallN) {
    small_levels_kernel<<<1, dim3(kBlockX, kBlockY)>>>(levels, k, add_to_u);
  } else {
    restrict_kernel<<<blocks_for(coarse, kCoarseX, kCoarseY), block>>>(fine, coarse);
    CUDA_CHECK(cudaGetLastError());
    correct(levels, k + 1, false);
    correct_kernel<<<blocks_for(fine, kBlockX, kBlockY), block>>>(fine, coarse, add_to_u);
  }
  CUDA_CHECK(cudaGetLastError());  // was the launch accepted?
}

// One cycle on level k. `sum` gets the sum of the squares of the defect that it began with.
void cycle(const Levels& levels, int k, double* sum) {
  const dim3 grid = blocks_for(levels.level[k], kBlockX, kBlockY), block(kBlockX, kThreadsY);
  CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(double)));
  defect_kernel<<<grid, block>>>(levels.level[k], sum);
  CUDA_CHECK(cudaGetLastError());
  correct(levels, k, true);
}

// Fills level `to` from level `from`, without the outermost `rim` points.
void interpolate(const Levels& levels, int to, int from, int rim) {
  const dim3 grid = blocks_for(levels.level[to], kBlockX, kBlockY), block(kBlockX, kThreadsY);
  interpolate_kernel<<<grid, block>>>(levels.level[to], levels.level[from], rim);
  CUDA_CHECK(cudaGetLastError());
}

// Solves on the coarser levels, the coarsest first: each begins with what the one before found.
void start_from_coarser_levels(const Levels& levels, double* sum) {
  nvtxRangePush("start_from_coarser_levels");
  for (int k = 1; k < levels.count; ++k) interpolate(levels, k, k - 1, 0);  // the boundary's values
  for (int k = levels.count - 1; k > 0; --k) {
    for (int c = 0; c < kStartCycles; ++c) cycle(levels, k, sum);
    interpolate(levels, k - 1, k, 1);
  }
  nvtxRangePop();
}

// One cycle on the finest level. Returns the sum of the squares of the defect that it began with.
double multigrid_cycle(const Levels& levels, double* sum) {
  nvtxRangePush("multigrid_cycle");
  cycle(levels, 0, sum);
  double host_sum;
  CUDA_CHECK(cudaMemcpy(&host_sum, sum, sizeof(double), cudaMemcpyDeviceToHost));  // and waits
  nvtxRangePop();
  return host_sum;
}

int main(int argc, char** argv) {
  const lab::Options options = lab::parse_options(argc, argv, {kDefaultN});
  const lab::Problem problem(options);
  const int n = options.n;

  double* sum;
  const Levels levels = allocate_levels(&sum, n);
  double* u = levels.level[0].u;
  initialize_field(u, problem.initial_old(), n);

  lab::Run run(options, problem);
  int iteration = 0;
  double residual = std::numeric_limits<double>::infinity();
  while (residual > options.tolerance && iteration < options.max_iterations) {
    if (iteration == 0) start_from_coarser_levels(levels, sum);
    const double squares = multigrid_cycle(levels, sum);
    residual = 0.25 * std::sqrt(squares) / n;  // the change that a Jacobi sweep would make
    run.record(++iteration, residual);
  }

  // If the result is wanted, some whole rows of it at a time are copied to the host, as floats.
  const int exit_code = run.finish([=](float* to, int j, int rows) {
    std::vector<double> doubles(std::size_t(rows) * n);
    const std::size_t bytes = doubles.size() * sizeof(double);
    CUDA_CHECK(cudaMemcpy(doubles.data(), u + idx(0, j, n), bytes, cudaMemcpyDeviceToHost));
    std::copy(doubles.begin(), doubles.end(), to);
  });
  free_levels(levels, sum);
  return exit_code;
}
