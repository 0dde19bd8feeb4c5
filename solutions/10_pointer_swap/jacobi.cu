// 10_pointer_swap: swap pointers, not data
//
// Changed: after a sweep the two fields change roles, which costs nothing; the copy kernel is gone.
// The fields are in the GPU's own memory and begin there: a kernel writes their starting values,
// and only the result is copied to the host, a block of rows at a time.
//
//   make check STEP=10
//   Ask the profiler: how many bytes per point does an iteration move?

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

constexpr int kDefaultN = 8192;  // points per side, unless --n says otherwise
constexpr int kBlockX = 32;      // points per block along i, and threads: one warp
constexpr int kBlockY = 32;      // points per block along j
constexpr int kThreadsY = 4;     // threads per block along j in the sweep, for kBlockY points

constexpr int kTileX = kBlockX + 2;  // a block's points and a halo one point wide around them
constexpr int kTileY = kBlockY + 2;

// Where point (i, j) stands in memory. i is x and j is y; both run from 0 to n - 1.
__host__ __device__ inline std::size_t idx(int i, int j, int n) { return std::size_t(j) * n + i; }

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
    const double squares = jacobi_sweep(f_new, f_old, sum, n);
    residual = std::sqrt(squares / (double(n) * n));
    std::swap(f_old, f_new);  // the new field is the old one of the next sweep
    run.record(++iteration, residual);
  }

  // If the result is wanted, some whole rows of it at a time are copied to the host.
  const int exit_code = run.finish([=](float* to, int j, int rows) {
    const std::size_t bytes = std::size_t(rows) * n * sizeof(float);
    CUDA_CHECK(cudaMemcpy(to, f_old + idx(0, j, n), bytes, cudaMemcpyDeviceToHost));
  });
  free_fields(f_old, f_new, sum);
  return exit_code;
}
