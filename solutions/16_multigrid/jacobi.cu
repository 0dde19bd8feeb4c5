// 16_multigrid: coarser grids carry away what sweeps cannot
//
// Changed: an iteration is a cycle over grids of n, n / 2 + 1, ... and 3 points per side. Sweeps
// make an error smooth. What is smooth also shows on a coarser grid, and is corrected there. The
// first cycle begins with what the coarser grids found.
//
//   make check STEP=16
//   Ask the profiler: how long until the answer is right, and which levels take that time?

#include <cmath>
#include <cstddef>
#include <limits>

#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#include <cub/block/block_reduce.cuh>

#include <lab/cuda_check.h>
#include <lab/gpu_memory.h>
#include <lab/options.h>
#include <lab/problem.h>
#include <lab/run.h>

constexpr int kDefaultN = 16384;  // points per side, unless --n says otherwise
constexpr int kBlockX = 32;       // threads per block along i: one warp
constexpr int kBlockY = 32;       // points per block along j
constexpr int kThreadsY = 4;      // threads per block along j, for kBlockY points
constexpr int kRows = 8;          // points per thread along j, on the way back up: even
constexpr int kSmallN = 33;       // points per side of the largest level of one block: kBlockX + 1
constexpr int kMaxLevels = 21;    // enough for 2^20 points per side
constexpr int kStartCycles = 2;   // cycles on each coarser level, to begin with

// How far a level's two sweeps go towards the mean of the neighbours. No other two leave less than
// their 0.22 of all errors that no coarser level shows, 1/2 <= lambda <= 2 (Chebyshev).
constexpr float kOmegaBefore = 1.39f, kOmegaAfter = 0.56f;

// A grid of n x n points over the unit square. The next level has n / 2 + 1 points per side.
struct Level {
  int n;
  double ratio;  // distance between points, in distances of the next level
  float* u;      // the solution so far
  float* r;      // its defect, east + north + west + south - 4 u, or what is left of the finer r
  float* e;      // the correction: 4 e - (its four neighbours) should be r
};
struct Levels {
  int count = 0;
  Level level[kMaxLevels] = {};  // from fine to coarse; the last one has 3 points per side
};

// Where point (i, j) stands in memory. i is x and j is y; both run from 0 to n - 1.
__host__ __device__ inline std::size_t idx(int i, int j, int n) { return std::size_t(j) * n + i; }

// All fields begin with 0. On the boundary, r and e stay 0.
Levels allocate_levels(double** sum, int n) {
  nvtxRangePush("allocate_levels");
  lab::require_gpu_memory(n, 4 * sizeof(float));  // three fields, and a third more for all levels
  Levels levels;
  for (int m = n; m >= 3; m = m / 2 + 1) {
    Level& level = levels.level[levels.count++];
    level.n = m;
    level.ratio = double(m / 2) / (m - 1);
    const std::size_t bytes = std::size_t(m) * m * sizeof(float);
    for (float** field : {&level.u, &level.r, &level.e}) {
      CUDA_CHECK(cudaMalloc(field, bytes));
      CUDA_CHECK(cudaMemset(*field, 0, bytes));
    }
  }
  CUDA_CHECK(cudaMalloc(sum, sizeof(double)));
  nvtxRangePop();
  return levels;
}

void free_levels(const Levels& levels, double* sum) {
  nvtxRangePush("free_levels");
  for (const Level& level : levels.level) {
    for (float* field : {level.u, level.r, level.e}) CUDA_CHECK(cudaFree(field));
  }
  CUDA_CHECK(cudaFree(sum));
  nvtxRangePop();
}

__global__ void initialize_field_kernel(float* u, lab::StartingValue start, int n) {
  const int j = blockIdx.x;  // a block fills one row
  for (int i = threadIdx.x; i < n; i += blockDim.x) u[idx(i, j, n)] = start(i, j);
}

void initialize_field(float* u, const lab::StartingField& start, int n) {
  nvtxRangePush("initialize_field");
  const lab::StartOnGpu on_gpu(start);  // the boundary's values, copied for the kernel
  initialize_field_kernel<<<n, kBlockX * kBlockY>>>(u, on_gpu.value(), n);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  nvtxRangePop();
}

// Fills the boundary of `to`, or all points inside it, with values of a finer or a coarser level,
// linear along x and y between the four points around.
__global__ void interpolate_kernel(Level to, Level from, bool boundary) {
  const int n = to.n, m = from.n, i = blockIdx.x * kBlockX + threadIdx.x;
  const double ratio = double(m - 1) / (n - 1);
  for (int y = threadIdx.y; y < kBlockY; y += kThreadsY) {
    const int j = blockIdx.y * kBlockY + y;
    const bool inside = i >= 1 && i < n - 1 && j >= 1 && j < n - 1;
    if (i >= n || j >= n || inside == boundary) continue;
    const int west = min(int(i * ratio), m - 2), south = min(int(j * ratio), m - 2);
    const float part_x = i * ratio - west, part_y = j * ratio - south;
    const float* u = from.u + idx(west, south, m);
    const float on_south = u[0] + part_x * (u[1] - u[0]);
    const float on_north = u[m] + part_x * (u[m + 1] - u[m]);
    to.u[idx(i, j, n)] = on_south + part_y * (on_north - on_south);
  }
}

// The defect of u, in double, because it is far smaller than u. Adds its squares to sum.
__global__ void defect_kernel(Level level, double* sum) {
  const int n = level.n, i = blockIdx.x * kBlockX + threadIdx.x;
  double thread_sum = 0.0;
  for (int y = threadIdx.y; y < kBlockY; y += kThreadsY) {
    const int j = blockIdx.y * kBlockY + y;
    if (i >= 1 && i < n - 1 && j >= 1 && j < n - 1) {
      const float* u = level.u + idx(i, j, n);
      const double defect = ((double(u[1]) + u[n]) + (double(u[-1]) + u[-n])) - 4 * double(u[0]);
      level.r[idx(i, j, n)] = defect;
      thread_sum += defect * defect;
    }
  }
  using Reduce = cub::BlockReduce<double, kBlockX, cub::BLOCK_REDUCE_WARP_REDUCTIONS, kThreadsY>;
  __shared__ typename Reduce::TempStorage reduce_storage;
  const double block_sum = Reduce(reduce_storage).Sum(thread_sum);
  if (threadIdx.x == 0 && threadIdx.y == 0) atomicAdd(sum, block_sum);
}

// Computes coarse.r at `rows` points of column i, from the defects that the first sweep leaves at
// 4 x 4 fine points around each. A share is the coarse point's weight where a value is interpolated
// at a fine one. A thread loads two of the four columns, and gets the others from the lanes beside
// it: no lane of a warp may stay away, and the first and the last one store nothing.
__device__ void restrict_points(const Level& fine, const Level& coarse, int rows) {
  const int n = fine.n, m = coarse.n, i = blockIdx.x * (kBlockX - 2) + threadIdx.x;
  int j = 1 + (blockIdx.y * blockDim.y + threadIdx.y) * rows;
  // The share of coarse point c in the k-th of the four fine points around it, along one axis.
  const auto share = [&](int c, int k) {
    return 1 - fabsf(float((2 * c - 2 + n % 2) * fine.ratio - c) + k * float(fine.ratio));
  };
  const auto on_grid = [n](int x) { return min(max(x, 0), n - 1); };  // nothing beyond has a share
  const int column_a = on_grid(2 * i - 1 + n % 2), column_b = on_grid(2 * i + n % 2);
  float2 south, here = {}, north = {};  // the last three rows of the two columns
  float row_sums[4] = {};               // the shares of the last four rows
  int y = 2 * j - 3 + n % 2;            // the row that is loaded next
  const auto next_row = [&] {
    const float* row = fine.r + idx(0, on_grid(y++), n);
    south = here;
    here = north;
    north = {row[column_a], row[column_b]};
    const float west = __shfl_up_sync(~0u, here.y, 1), east = __shfl_down_sync(~0u, here.x, 1);
    // The sweep begins with e = 0, so it gives omega / 4 * r, and leaves:
    const auto left = [](float r, float sum) { return r + kOmegaBefore * (0.25f * sum - r); };
    const float a = left(here.x, (here.y + north.x) + (west + south.x));
    const float b = left(here.y, (east + north.y) + (here.x + south.y));
    const float before = __shfl_up_sync(~0u, b, 1), after = __shfl_down_sync(~0u, a, 1);
    for (int k = 0; k < 3; ++k) row_sums[k] = row_sums[k + 1];
    row_sums[3] = share(i, 0) * before + share(i, 1) * a + share(i, 2) * b + share(i, 3) * after;
  };
  for (int k = 0; k < 4; ++k) next_row();
  for (int j_end = min(j + rows, m - 1); j < j_end; ++j) {
    for (int k = 0; k < 2; ++k) next_row();
    float sum = 0.0f;
    for (int k = 0; k < 4; ++k) sum += share(j, k) * row_sums[k];
    if (threadIdx.x > 0 && threadIdx.x < kBlockX - 1 && i < m - 1) coarse.r[idx(i, j, m)] = sum;
  }
}

// Performs the second sweep, at kRows points of column i. The result becomes e, or is added to u.
// Fine rows 2 c and 2 c + 1 lie between the coarse rows c and c + 1, and columns likewise. Loads
// come first, for none may pass a store. Lanes exchange e, the first sweep's plus the coarse one.
__device__ void correct_points(const Level& fine, const Level& coarse, bool add_to_u) {
  const int n = fine.n, m = coarse.n, i = 1 + blockIdx.x * (kBlockX - 2) + threadIdx.x;
  const int j = (blockIdx.y * blockDim.y + threadIdx.y) * kRows;  // the row before its points
  if (j >= n - 2) return;
  const bool stores = threadIdx.x < kBlockX - 1 && (threadIdx.x > 0 || i == 1);
  const auto at = [&](int k) { return idx(i, j + k, n); };
  const auto there = [&](int k) { return i < n - 1 && j + k < n - 1; };  // elsewhere r is 0
  // How far fine line x is on the way from coarse line x / 2 to the next one.
  const auto part = [&](int x) { return 0.5f * (x % 2) + x * float(fine.ratio - 0.5); };
  float on_coarse_row[kRows / 2 + 2], r[kRows + 2], e[kRows + 2], u[kRows + 2];
  for (int k = 0; k < kRows / 2 + 2; ++k) {
    const float* west = coarse.e + idx(i / 2, j / 2 + k, m);
    on_coarse_row[k] = there(2 * k) ? west[0] + part(i) * (west[1] - west[0]) : 0.0f;
  }
  for (int k = 0; k < kRows + 2; ++k) {
    const float south = on_coarse_row[k / 2], north = on_coarse_row[k / 2 + 1];
    r[k] = there(k) ? fine.r[at(k)] : 0.0f;
    e[k] = 0.25f * kOmegaBefore * r[k] + (south + part(j + k) * (north - south));
  }
  for (int k = 1; k <= kRows; ++k) u[k] = add_to_u && stores && there(k) ? fine.u[at(k)] : 0.0f;
  for (int k = 1; k <= kRows; ++k) {
    const float west = __shfl_up_sync(~0u, e[k], 1), east = __shfl_down_sync(~0u, e[k], 1);
    const float sum = (east + e[k + 1]) + ((i > 1 ? west : 0.0f) + e[k - 1]);
    const float result = u[k] + (e[k] + kOmegaAfter * (0.25f * (sum + r[k]) - e[k]));
    if (stores && there(k)) (add_to_u ? fine.u : fine.e)[at(k)] = result;
  }
}

__global__ void restrict_kernel(Level fine, Level coarse, int rows) {
  restrict_points(fine, coarse, rows);
}

__global__ void correct_kernel(Level fine, Level coarse, bool add_to_u) {
  correct_points(fine, coarse, add_to_u);
}

// The same for level k, which is small, and all below it: launches for each would take longer.
__global__ void __launch_bounds__(1024) small_levels_kernel(Levels levels, int k, bool add_to_u) {
  int l = k;
  for (; l < levels.count - 1; ++l) {
    restrict_points(levels.level[l], levels.level[l + 1], 1);
    __syncthreads();  // all of the coarse r is there
  }
  const Level& last = levels.level[l];  // one interior point, with an equation of its own
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    last.e[4] = last.r[4] / 4;
    if (add_to_u && l == k) last.u[4] += last.e[4];
  }
  while (--l >= k) {
    __syncthreads();  // all of the coarse e is there
    correct_points(levels.level[l], levels.level[l + 1], add_to_u && l == k);
  }
}

dim3 blocks_for(const Level& level, int points_x, int points_y) {  // per block
  return dim3((level.n + points_x - 1) / points_x, (level.n + points_y - 1) / points_y);
}

// One cycle for u of level `top`. `sum` gets the sum of the squares of the defect before it.
void cycle(const Levels& levels, int top, double* sum) {
  const dim3 block(kBlockX, kThreadsY);
  const Level* level = levels.level;
  CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(double)));
  defect_kernel<<<blocks_for(level[top], kBlockX, kBlockY), block>>>(level[top], sum);
  CUDA_CHECK(cudaGetLastError());  // was the launch accepted?
  int k = top;
  for (; level[k].n > kSmallN; ++k) {
    const int rows = 1 + level[k + 1].n / 512;  // per thread: few on small levels, to fill the GPU
    const dim3 grid = blocks_for(level[k + 1], kBlockX - 2, kThreadsY * rows);
    restrict_kernel<<<grid, block>>>(level[k], level[k + 1], rows);
    CUDA_CHECK(cudaGetLastError());
  }
  small_levels_kernel<<<1, dim3(kBlockX, kBlockY)>>>(levels, k, k == top);
  CUDA_CHECK(cudaGetLastError());
  while (--k >= top) {
    const dim3 grid = blocks_for(level[k], kBlockX - 2, kThreadsY * kRows);
    correct_kernel<<<grid, block>>>(level[k], level[k + 1], k == top);
    CUDA_CHECK(cudaGetLastError());
  }
}

// Solves on the coarser levels, the coarsest first: each begins with what the one before found.
void start_from_coarser_levels(const Levels& levels, double* sum) {
  const auto interpolate = [&](int to, int from, bool boundary) {
    const dim3 grid = blocks_for(levels.level[to], kBlockX, kBlockY), block(kBlockX, kThreadsY);
    interpolate_kernel<<<grid, block>>>(levels.level[to], levels.level[from], boundary);
    CUDA_CHECK(cudaGetLastError());
  };
  for (int k = 1; k < levels.count; ++k) interpolate(k, k - 1, true);
  for (int k = levels.count - 1; k > 0; --k) {
    for (int c = 0; c < kStartCycles; ++c) cycle(levels, k, sum);
    interpolate(k - 1, k, false);
  }
}

int main(int argc, char** argv) {
  const lab::Options options = lab::parse_options(argc, argv, {kDefaultN});
  const lab::Problem problem(options);
  const int n = options.n;

  double* sum;
  const Levels levels = allocate_levels(&sum, n);
  initialize_field(levels.level[0].u, problem.initial_old(), n);

  lab::Run run(options, problem);
  int iteration = 0;
  double residual = std::numeric_limits<double>::infinity();
  while (residual > options.tolerance && iteration < options.max_iterations) {
    nvtxRangePush("cycle");
    if (iteration == 0) start_from_coarser_levels(levels, sum);
    cycle(levels, 0, sum);
    double squares;
    CUDA_CHECK(cudaMemcpy(&squares, sum, sizeof(double), cudaMemcpyDeviceToHost));  // and waits
    nvtxRangePop();
    residual = 0.25 * std::sqrt(squares) / n;  // the change that a Jacobi sweep would make
    run.record(++iteration, residual);
  }

  // If the result is wanted, some whole rows of it at a time are copied to the host.
  const int exit_code = run.finish([&](float* to, int j, int rows) {
    const std::size_t bytes = std::size_t(rows) * n * sizeof(float);
    CUDA_CHECK(cudaMemcpy(to, levels.level[0].u + idx(0, j, n), bytes, cudaMemcpyDeviceToHost));
  });
  free_levels(levels, sum);
  return exit_code;
}
