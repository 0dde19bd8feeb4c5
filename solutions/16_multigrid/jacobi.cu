// 16_multigrid: coarser grids carry away what sweeps cannot
//
// Changed: a sweep makes an error smooth, and hardly makes it smaller. What is smooth also shows on
// a coarser grid, with a quarter of the points. There it is corrected by two sweeps and a still
// coarser grid. An iteration is such a cycle, from the finest level down to three points per side
// and back. The first one begins with what the coarser levels found.
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
constexpr int kSmallN = 34;       // one block corrects all levels of at most this many points
constexpr int kMaxLevels = 21;    // enough for 2^20 points per side
constexpr int kStartCycles = 2;   // cycles on each coarser level, to begin with

// How far a sweep goes towards the mean of the four neighbours. An error that changes sign from
// point to point is multiplied by 1 - omega * lambda, with lambda between 1/2 and 2 for all that a
// coarser grid cannot show. These two are best for that range (Chebyshev): at most 0.22 is left.
constexpr float kOmegaBefore = 1.39f;  // of the sweep before the coarser level's correction
constexpr float kOmegaAfter = 0.56f;   // of the one after it

// One grid of n x n points over the unit square. The next coarser one has n / 2 + 1 points per
// side: for odd n every second point of this one; for even n they lie between those of this one.
struct Level {
  int n;
  double ratio;  // this level's distance between points, in distances of the coarser level
  float* u;      // the solution so far
  float* r;      // its defect, to be corrected: east + north + west + south - 4 u
  float* e;      // the correction: its own defect is -r
};

struct Levels {
  int count = 0;
  Level level[kMaxLevels];  // from fine to coarse; the last one has 3 points per side
};

// Where point (i, j) stands in memory. i is x and j is y; both run from 0 to n - 1.
__host__ __device__ inline std::size_t idx(int i, int j, int n) { return std::size_t(j) * n + i; }

// All levels. Defects and corrections are 0 on the boundary, and no kernel changes them there.
Levels allocate_levels(double** sum, int n) {
  nvtxRangePush("allocate_levels");
  lab::require_gpu_memory(n, 4 * sizeof(float));
  Levels levels;
  for (int m = n; m >= 3; m = m / 2 + 1) {
    Level& level = levels.level[levels.count++];
    level.n = m;
    level.ratio = double(m / 2) / (m - 1);
    const std::size_t points = std::size_t(m) * m;
    CUDA_CHECK(cudaMalloc(&level.u, points * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&level.r, points * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&level.e, points * sizeof(float)));
    CUDA_CHECK(cudaMemset(level.u, 0, points * sizeof(float)));
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

__global__ void initialize_field_kernel(float* u, lab::StartingValue start, int n) {
  const int j = blockIdx.x;  // a block fills one row
  for (int i = threadIdx.x; i < n; i += blockDim.x) u[idx(i, j, n)] = start(i, j);
}

// Gives every point its starting value; no cycle changes those on the boundary.
void initialize_field(float* u, const lab::StartingField& start, int n) {
  nvtxRangePush("initialize_field");
  const lab::StartOnGpu on_gpu(start);  // the boundary's values, copied for the kernel
  initialize_field_kernel<<<n, kBlockX * kBlockY>>>(u, on_gpu.value(), n);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  nvtxRangePop();
}

// Where a point of one level lies on a line of another level: beyond point `index`, by `part` of
// the way to the next one.
struct Place {
  int index;
  float part;
};

// Point i of a line, among m points; `ratio` is its points' distance in theirs.
__device__ Place place_of(int i, double ratio, int m) {
  const double at = i * ratio;
  const int index = min(int(at), m - 2);
  return {index, float(at - index)};
}

// The value there of a field of m x m points: linear along x and y.
__device__ float interpolated(const float* f, int m, Place x, Place y) {
  const float* south = f + idx(x.index, y.index, m);
  const float* north = south + m;
  const float on_south = south[0] + x.part * (south[1] - south[0]);
  const float on_north = north[0] + x.part * (north[1] - north[0]);
  return on_south + y.part * (on_north - on_south);
}

// Fills the boundary of `to`, or all points inside it, from a level finer or coarser.
__global__ void interpolate_kernel(Level to, Level from, bool boundary) {
  const int n = to.n, i = blockIdx.x * kBlockX + threadIdx.x;
  const double ratio = double(from.n - 1) / (n - 1);
  const Place x = place_of(i, ratio, from.n);
  for (int k = threadIdx.y; k < kBlockY; k += kThreadsY) {
    const int j = blockIdx.y * kBlockY + k;
    const bool inside = i >= 1 && i < n - 1 && j >= 1 && j < n - 1;
    if (i >= n || j >= n || inside == boundary) continue;
    to.u[idx(i, j, n)] = interpolated(from.u, from.n, x, place_of(j, ratio, from.n));
  }
}

// The defect of u; adds its squares to sum. It is computed in doubles: what is left of the four
// neighbours and the point is far smaller than they are, and u itself may stay in floats.
__global__ void defect_kernel(Level level, double* sum) {
  const int n = level.n, i = blockIdx.x * kBlockX + threadIdx.x;
  double thread_sum = 0.0;
  for (int y = threadIdx.y; y < kBlockY; y += kThreadsY) {
    const int j = blockIdx.y * kBlockY + y;

    // The launch grid is rounded up to whole blocks: not every thread has an interior point.
    if (i >= 1 && i < n - 1 && j >= 1 && j < n - 1) {
      const float* u = level.u + idx(i, j, n);
      const double defect = ((double(u[1]) + u[n]) + (double(u[-1]) + u[-n])) - 4 * double(u[0]);
      level.r[idx(i, j, n)] = defect;
      thread_sum += defect * defect;
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

// The coarse r at rows j to j + rows - 1 of column i: its shares of the defects at the fine points
// around it, 4 x 4 at most, after a sweep there. A share is what `interpolated` takes from the
// coarse point; those of one point sum up to (coarse distance / fine distance)^2, by which the
// defects differ. All lanes of a warp come here, with one column after the other. A lane loads two
// fine columns, and has those beside them from its neighbours; the first and the last lane have
// only one neighbour and store nothing.
__device__ void restrict_points(const Level& fine, const Level& coarse, int i, int j, int rows) {
  const int n = fine.n, m = coarse.n, j_end = min(j + rows, m - 1), lane = threadIdx.x;
  const bool stores = lane > 0 && lane < kBlockX - 1 && i < m - 1;
  const int i_own = 2 * i - 1 + n % 2;
  // What is beyond the boundary has no share; a point on it stands in.
  const int column_a = min(max(i_own, 0), n - 1), column_b = min(max(i_own + 1, 0), n - 1);
  const auto share = [](float distance) { return fmaxf(1 - fabsf(distance), 0.0f); };
  const float ratio = fine.ratio, i_from = (i_own - 1) * fine.ratio - i;  // in coarse distances
  float shares[4];  // of the fine columns from i_own - 1 on
  for (int k = 0; k < 4; ++k) shares[k] = share(i_from + k * ratio);

  float2 south, here = {}, north = {};  // three fine rows of the two columns
  float row_sums[4] = {};               // what this column gets of the last four rows
  int y = 2 * j - 3 + n % 2;            // the row that is loaded next
  const auto next_row = [&] {
    const float* row = fine.r + idx(0, min(max(y++, 0), n - 1), n);
    south = here;
    here = north;
    north = {row[column_a], row[column_b]};
    const float west = __shfl_up_sync(~0u, here.y, 1), east = __shfl_down_sync(~0u, here.x, 1);
    const float mean_a = 0.25f * ((here.y + north.x) + (west + south.x));
    const float mean_b = 0.25f * ((east + north.y) + (here.x + south.y));
    // The correction begins with 0, so the sweep gives omega / 4 * r, and leaves:
    const float a = here.x + kOmegaBefore * (mean_a - here.x);
    const float b = here.y + kOmegaBefore * (mean_b - here.y);
    const float before_a = __shfl_up_sync(~0u, b, 1), after_b = __shfl_down_sync(~0u, a, 1);
    for (int k = 0; k < 3; ++k) row_sums[k] = row_sums[k + 1];
    row_sums[3] = (shares[0] * before_a + shares[1] * a) + (shares[2] * b + shares[3] * after_b);
  };
  for (int k = 0; k < 4; ++k) next_row();
  for (; j < j_end; ++j) {
    next_row();
    next_row();
    const float j_from = (2 * j - 2 + n % 2) * fine.ratio - j;
    float sum = 0.0f;
    for (int k = 0; k < 4; ++k) sum += share(j_from + k * ratio) * row_sums[k];
    if (stores) coarse.r[idx(i, j, m)] = sum;
  }
}

// The correction at point (i, j) after the sweep before, and with what the coarse level found.
// `x` is where i lies on that level.
__device__ inline float corrected(const Level& fine, const Level& coarse, Place x, int i, int j) {
  const Place y = place_of(j, fine.ratio, coarse.n);
  const float swept = 0.25f * kOmegaBefore * fine.r[idx(i, j, fine.n)];
  return swept + interpolated(coarse.e, coarse.n, x, y);
}

// The same after one more sweep, for `rows` points of column i. On the level that a cycle is for,
// it is added to the solution; the others keep it.
__device__ void correct_points(const Level& fine, const Level& coarse, bool add_to_u, int i, int j,
                               int rows) {
  const int n = fine.n, j_end = min(j + rows, n - 1);
  if (i < 1 || i >= n - 1 || j >= j_end) return;
  const Place west = place_of(i - 1, fine.ratio, coarse.n), x = place_of(i, fine.ratio, coarse.n);
  const Place east = place_of(i + 1, fine.ratio, coarse.n);
  float south = corrected(fine, coarse, x, i, j - 1), here = corrected(fine, coarse, x, i, j);
  for (; j < j_end; ++j) {
    const std::size_t at = idx(i, j, n);
    const float u = add_to_u ? fine.u[at] : 0.0f;
    const float north = corrected(fine, coarse, x, i, j + 1);
    const float neighbours = (corrected(fine, coarse, east, i + 1, j) + north) +
                             (corrected(fine, coarse, west, i - 1, j) + south);
    const float correction = here + kOmegaAfter * (0.25f * (neighbours + fine.r[at]) - here);
    if (add_to_u) {
      fine.u[at] = u + correction;
    } else {
      fine.e[at] = correction;
    }
    south = here;
    here = north;
  }
}

__global__ void restrict_kernel(Level fine, Level coarse, int rows) {
  const int j = 1 + (blockIdx.y * kThreadsY + threadIdx.y) * rows;
  restrict_points(fine, coarse, blockIdx.x * (kBlockX - 2) + threadIdx.x, j, rows);
}

__global__ void correct_kernel(Level fine, Level coarse, bool add_to_u, int rows) {
  const int j = 1 + (blockIdx.y * kThreadsY + threadIdx.y) * rows;
  correct_points(fine, coarse, add_to_u, blockIdx.x * kBlockX + threadIdx.x, j, rows);
}

// The same for level k, which is small, and all below it: launches for each would take longer.
// It has 32 x 32 threads, so each may have 64 registers.
__global__ void __launch_bounds__(1024) small_levels_kernel(Levels levels, int k, bool add_to_u) {
  const int i = 1 + threadIdx.x, j = 1 + threadIdx.y;
  int l = k;
  for (; l < levels.count - 1; ++l) {
    restrict_points(levels.level[l], levels.level[l + 1], threadIdx.x, j, 1);
    __syncthreads();  // all of the coarse r is there
  }
  // 3 x 3 points: the one inside has an equation of its own.
  const Level& last = levels.level[l];
  if (i == 1 && j == 1) {
    last.e[4] = last.r[4] / 4;
    if (add_to_u && l == k) last.u[4] += last.e[4];
  }
  while (--l >= k) {
    __syncthreads();  // all of the coarse e is there
    correct_points(levels.level[l], levels.level[l + 1], add_to_u && l == k, i, j, 1);
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
    // Rows per thread: few on a small level, so that all threads have some.
    const int rows = 1 + fine.n / 256, coarse_rows = 1 + coarse.n / 512;
    const dim3 grid = blocks_for(coarse, kBlockX - 2, kThreadsY * coarse_rows);
    restrict_kernel<<<grid, block>>>(fine, coarse, coarse_rows);
    CUDA_CHECK(cudaGetLastError());
    correct(levels, k + 1, false);
    correct_kernel<<<blocks_for(fine, kBlockX, kThreadsY * rows), block>>>(fine, coarse, add_to_u,
                                                                           rows);
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

// Fills the boundary of level `to`, or all points inside it, from level `from`. Both take a thread
// for each point of the level: for the boundary most have no work, but that is once per run.
void interpolate(const Levels& levels, int to, int from, bool boundary) {
  const dim3 grid = blocks_for(levels.level[to], kBlockX, kBlockY), block(kBlockX, kThreadsY);
  interpolate_kernel<<<grid, block>>>(levels.level[to], levels.level[from], boundary);
  CUDA_CHECK(cudaGetLastError());
}

// Solves on the coarser levels, the coarsest first: each begins with what the one before found.
void start_from_coarser_levels(const Levels& levels, double* sum) {
  nvtxRangePush("start_from_coarser_levels");
  for (int k = 1; k < levels.count; ++k) interpolate(levels, k, k - 1, true);  // the boundary
  for (int k = levels.count - 1; k > 0; --k) {
    for (int c = 0; c < kStartCycles; ++c) cycle(levels, k, sum);
    interpolate(levels, k - 1, k, false);  // the points inside
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
  float* u = levels.level[0].u;
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

  // If the result is wanted, some whole rows of it at a time are copied to the host.
  const int exit_code = run.finish([=](float* to, int j, int rows) {
    const std::size_t bytes = std::size_t(rows) * n * sizeof(float);
    CUDA_CHECK(cudaMemcpy(to, u + idx(0, j, n), bytes, cudaMemcpyDeviceToHost));
  });
  free_levels(levels, sum);
  return exit_code;
}
