// 04_jacobi_kernel: the sweep on the GPU
//
// Start: the code of step 03, now compiled by nvcc.
// Task:  make jacobi_sweep launch a kernel, one thread per point, 32 x 32 threads per block. Every
//        thread adds its squared change to one sum in managed memory. The copy stays on the CPU.
//
//   make check STEP=04
//   Ask the profiler: what did each range gain or lose, and what moves between CPU and GPU?

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

// TODO(04), stage 2: name the block's shape here, kBlockX = 32 along i and kBlockY = 32 along j.
constexpr int kDefaultN = 2048;  // points per side, unless --n says otherwise

// Where point (i, j) stands in memory. i is x and j is y; both run from 0 to n - 1.
// TODO(04), stage 2: a kernel calls idx, so mark it __host__ __device__.
inline std::size_t idx(int i, int j, int n) { return std::size_t(i) * n + j; }

// Two fields of n x n floats: a sweep reads the old one and writes the new one. Both are in managed
// memory: one pointer serves the CPU and the GPU, and the pages move to whichever touches them.
void allocate_fields(float** f_old, float** f_new, int n) {
  nvtxRangePush("allocate_fields");
  lab::require_host_memory(n, 2 * sizeof(float));
  lab::require_gpu_memory(n, 2 * sizeof(float));
  // TODO(04), stage 1: the sum of the squared changes, one double, must be where the GPU's threads
  //   can add to it. Allocate it here too, and free it below.
  const std::size_t bytes = std::size_t(n) * n * sizeof(float);
  CUDA_CHECK(cudaMallocManaged(f_old, bytes));
  CUDA_CHECK(cudaMallocManaged(f_new, bytes));
  nvtxRangePop();
}

void free_fields(float* f_old, float* f_new) {
  nvtxRangePush("free_fields");
  CUDA_CHECK(cudaFree(f_old));
  CUDA_CHECK(cudaFree(f_new));
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

// TODO(04), stage 2: write the kernel, jacobi_sweep_kernel(f_new, f_old, n), a __global__ function.
//   A thread's i comes from blockIdx.x, blockDim.x and threadIdx.x, and its j from the y's.
//   Is (i, j) an interior point? (The launch grid may be larger than the grid of points.)
//   If so, do what the two loops did for a point, but leave out `change` and the sum.
//   Stage 3: the kernel also takes the pointer sum, and adds with atomicAdd(sum, ...).
// One sweep over the interior. Returns the sum of the squared changes. It is a double, because a
// float sum of n^2 terms can be off by more than the contribution of a whole row.
double jacobi_sweep(float* f_new, const float* f_old, int n) {
  nvtxRangePush("jacobi_sweep");
  // TODO(04), stage 1: remove the local sum, and set *sum to zero. The loops add to *sum, and the
  //   function returns it.
  //   Stage 2: instead of the loops, launch the kernel over enough blocks to cover n x n points
  //   (round up). CUDA_CHECK(cudaGetLastError()) checks the launch, and
  //   CUDA_CHECK(cudaDeviceSynchronize()) waits for the kernel's end.
  double sum = 0.0;
  for (int j = 1; j < n - 1; ++j) {
    for (int i = 1; i < n - 1; ++i) {
      const float east = f_old[idx(i + 1, j, n)];
      const float north = f_old[idx(i, j + 1, n)];
      const float west = f_old[idx(i - 1, j, n)];
      const float south = f_old[idx(i, j - 1, n)];
      const float value = 0.25f * ((east + north) + (west + south));
      const double change = value - f_old[idx(i, j, n)];
      f_new[idx(i, j, n)] = value;
      sum += change * change;
    }
  }
  nvtxRangePop();
  return sum;
}

// Makes the new field the old one of the next sweep.
void copy_field(float* to, const float* from, int n) {
  nvtxRangePush("copy_field");
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

  // TODO(04), stage 1: a pointer to the sum, double* sum. Pass its address to allocate_fields, and
  //   the pointer itself to jacobi_sweep and free_fields.
  float *f_old, *f_new;
  allocate_fields(&f_old, &f_new, n);
  initialize_field(f_old, problem.initial_old(), n);
  initialize_field(f_new, problem.initial_new(), n);

  lab::Run run(options, problem);
  int iteration = 0;
  double residual = std::numeric_limits<double>::infinity();
  while (residual > options.tolerance && iteration < options.max_iterations) {
    const double squares = jacobi_sweep(f_new, f_old, n);
    residual = std::sqrt(squares / (double(n) * n));
    copy_field(f_old, f_new, n);
    run.record(++iteration, residual);
  }

  const int exit_code = run.finish(f_old, idx(1, 0, n), idx(0, 1, n));
  free_fields(f_old, f_new);
  return exit_code;
}
