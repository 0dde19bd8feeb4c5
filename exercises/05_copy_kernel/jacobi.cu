// 05_copy_kernel: the copy on the GPU too
//
// Start: the code of step 04.
// Task:  make copy_field launch a kernel, so that the fields stay in the GPU's memory.
//
//   make check STEP=05
//   Ask the profiler: what moves between CPU and GPU, and which kernel takes the time?

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

constexpr int kDefaultN = 2048;  // points per side, unless --n says otherwise
constexpr int kBlockX = 32;      // threads per block along i: one warp
constexpr int kBlockY = 32;      // threads per block along j

// Where point (i, j) stands in memory. i is x and j is y; both run from 0 to n - 1.
__host__ __device__ inline std::size_t idx(int i, int j, int n) { return std::size_t(i) * n + j; }

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
    atomicAdd(sum, change * change);
  }
}

// One sweep over the interior. Returns the sum of the squared changes. It is a double, because a
// float sum of n^2 terms can be off by more than the contribution of a whole row.
double jacobi_sweep(float* f_new, const float* f_old, double* sum, int n) {
  nvtxRangePush("jacobi_sweep");
  *sum = 0.0;
  const dim3 block(kBlockX, kBlockY);
  const dim3 grid((n + kBlockX - 1) / kBlockX, (n + kBlockY - 1) / kBlockY);
  jacobi_sweep_kernel<<<grid, block>>>(f_new, f_old, sum, n);
  CUDA_CHECK(cudaGetLastError());       // was the launch accepted?
  CUDA_CHECK(cudaDeviceSynchronize());  // did the kernel run to its end?
  const double host_sum = *sum;
  nvtxRangePop();
  return host_sum;
}

// TODO(05): write copy_field_kernel(to, from, n), one thread per point, for all n x n points, the
//   boundary included.
// Makes the new field the old one of the next sweep.
void copy_field(float* to, const float* from, int n) {
  nvtxRangePush("copy_field");
  // TODO(05): launch it here, as jacobi_sweep launches its kernel, with the same two checks.
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      to[idx(i, j, n)] = from[idx(i, j, n)];
    }
  }
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
