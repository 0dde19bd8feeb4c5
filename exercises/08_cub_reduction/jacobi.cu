// 08_cub_reduction: add up inside the block first
//
// Start: the code of step 07.
// Task:  one atomic per block instead of one per point. Each thread adds up the squared changes of
//        several points, cub::BlockReduce adds up the block's threads, and one of them adds that to
//        the sum. The sum's page stays on the GPU.
//
//   make check STEP=08
//   Ask the profiler: what do the warps stall on, before and after?

#include <cmath>
#include <cstddef>
#include <limits>

#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <lab/cuda_check.h>
#include <lab/gpu_memory.h>
#include <lab/options.h>
#include <lab/problem.h>
#include <lab/run.h>

// TODO(08), stage 1: the block keeps its 32 x 32 points, but in the sweep it gets fewer threads for
//   them. Define kThreadsY, the number of threads along j. (Begin with 4: each has 8 points.)
//   kBlockX and kBlockY then count points: update their comments.
constexpr int kDefaultN = 8192;  // points per side, unless --n says otherwise
constexpr int kBlockX = 32;      // threads per block along i: one warp
constexpr int kBlockY = 32;      // threads per block along j

// Where point (i, j) stands in memory. i is x and j is y; both run from 0 to n - 1.
__host__ __device__ inline std::size_t idx(int i, int j, int n) { return std::size_t(j) * n + i; }

// Two fields of n x n floats: a sweep reads the old one and writes the new one. Both are in managed
// memory: one pointer serves the CPU and the GPU, and the pages move to whichever touches them.
// The sum of the squared changes is there too: the GPU adds to it, the CPU reads it.
void allocate_fields(float** f_old, float** f_new, double** sum, int n) {
  nvtxRangePush("allocate_fields");
  lab::require_host_memory(n, 2 * sizeof(float));
  lab::require_gpu_memory(n, 2 * sizeof(float));
  const std::size_t bytes = std::size_t(n) * n * sizeof(float);
  CUDA_CHECK(cudaMallocManaged(f_old, bytes));
  CUDA_CHECK(cudaMallocManaged(f_new, bytes));
  CUDA_CHECK(cudaMallocManaged(sum, sizeof(double)));
  nvtxRangePop();
}

void free_fields(float* f_old, float* f_new, double* sum) {
  nvtxRangePush("free_fields");
  CUDA_CHECK(cudaFree(f_old));
  CUDA_CHECK(cudaFree(f_new));
  CUDA_CHECK(cudaFree(sum));
  nvtxRangePop();
}

// Gives every point its starting value; no sweep changes those on the boundary.
void initialize_field(float* f, const lab::StartingField& start, int n) {
  nvtxRangePush("initialize_field");
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      f[idx(i, j, n)] = start(i, j);
    }
  }
  nvtxRangePop();
}

// Each thread updates one point: thread (x, y) of a block has the point (x, y) of the block's part
// of the grid. __restrict__ promises that the two fields do not overlap.
__global__ void jacobi_sweep_kernel(float* __restrict__ f_new, const float* __restrict__ f_old,
                                    double* sum, int n) {
  // TODO(08), stage 1: i stays, and the line of j goes into a loop. Declare a double for the
  //   thread's own sum, 0 at first. Then loop over this thread's rows y of the block, every
  //   kThreadsY-th one. (What is j then?) A thread now updates several points: update the comment
  //   above the kernel.
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;

  // The launch grid is rounded up to whole blocks: not every thread has an interior point.
  if (i >= 1 && i < n - 1 && j >= 1 && j < n - 1) {
    const float east = f_old[idx(i + 1, j, n)];
    const float north = f_old[idx(i, j + 1, n)];
    const float west = f_old[idx(i - 1, j, n)];
    const float south = f_old[idx(i, j - 1, n)];
    const float value = 0.25f * ((east + north) + (west + south));
    const double change = value - f_old[idx(i, j, n)];
    f_new[idx(i, j, n)] = value;
    // TODO(08), stage 1: add to the thread's own sum instead.
    atomicAdd(sum, change * change);
  }
  // TODO(08), stage 1: here, after the loop, add the thread's own sum to *sum with one atomicAdd.
  //   Stage 2: instead, add up the block's threads. Include <cub/block/block_reduce.cuh> at the top
  //   of the file. The type is
  //     cub::BlockReduce<double, threads along x, algorithm, threads along y>
  //   with the algorithm cub::BLOCK_REDUCE_WARP_REDUCTIONS. Every thread must call Sum, also a
  //   thread without a point. Only the first thread gets the result: it does the one atomicAdd.
}

// One sweep over the interior. Returns the sum of the squared changes. It is a double, because a
// float sum of n^2 terms can be off by more than the contribution of a whole row.
double jacobi_sweep(float* f_new, const float* f_old, double* sum, int n) {
  nvtxRangePush("jacobi_sweep");
  *sum = 0.0;
  // TODO(08), stage 1: fewer threads per block. How many blocks? Still one per 32 x 32 points.
  const dim3 block(kBlockX, kBlockY);
  const dim3 grid((n + kBlockX - 1) / kBlockX, (n + kBlockY - 1) / kBlockY);
  jacobi_sweep_kernel<<<grid, block>>>(f_new, f_old, sum, n);
  CUDA_CHECK(cudaGetLastError());       // was the launch accepted?
  CUDA_CHECK(cudaDeviceSynchronize());  // did the kernel run to its end?
  // TODO(08), stage 3: if the CPU touches the sum, its page moves to the CPU, and the kernel
  //   probably waits for it. Set the sum to zero above with cudaMemset, and fetch it here with
  //   cudaMemcpy. (Update the comment above allocate_fields.)
  const double host_sum = *sum;
  nvtxRangePop();
  return host_sum;
}

__global__ void copy_field_kernel(float* __restrict__ to, const float* __restrict__ from, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < n && j < n) {
    to[idx(i, j, n)] = from[idx(i, j, n)];
  }
}

// Makes the new field the old one of the next sweep.
void copy_field(float* to, const float* from, int n) {
  nvtxRangePush("copy_field");
  const dim3 block(kBlockX, kBlockY);
  const dim3 grid((n + kBlockX - 1) / kBlockX, (n + kBlockY - 1) / kBlockY);
  copy_field_kernel<<<grid, block>>>(to, from, n);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  nvtxRangePop();
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
    copy_field(f_old, f_new, n);
    run.record(++iteration, residual);
  }

  const int exit_code = run.finish(f_old, idx(1, 0, n), idx(0, 1, n));
  free_fields(f_old, f_new, sum);
  return exit_code;
}
