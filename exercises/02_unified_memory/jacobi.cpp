// 02_unified_memory: memory that the CPU and the GPU can both use
//
// Start: the code of step 01.
// Task:  allocate both fields with cudaMallocManaged, and check every CUDA call. Nothing else
//        changes: all the code still runs on the CPU.
//
//   make check STEP=02
//   Ask the profiler: which CUDA call, and which range, takes the time?

#include <cmath>
#include <cstddef>
#include <limits>

// TODO(02): include <cuda_runtime.h>, and the lab's <lab/cuda_check.h> and <lab/gpu_memory.h>.
#include <nvtx3/nvToolsExt.h>

#include <lab/options.h>
#include <lab/problem.h>
#include <lab/run.h>

constexpr int kDefaultN = 64;  // points per side, unless --n says otherwise

// Where point (i, j) stands in memory. i is x and j is y; both run from 0 to n - 1.
inline std::size_t idx(int i, int j, int n) { return std::size_t(i) * n + j; }

// Two fields of n x n floats: a sweep reads the old one and writes the new one.
void allocate_fields(float** f_old, float** f_new, int n) {
  nvtxRangePush("allocate_fields");
  lab::require_host_memory(n, 2 * sizeof(float));
  // TODO(02): check that the fields fit, with lab::require_gpu_memory(n, 2 * sizeof(float)). Then
  //   replace the two `new` with
  //     cudaMallocManaged(pointer to the pointer, bytes)
  //   each inside CUDA_CHECK( ... ), which ends the program with a clear line if a call fails.
  *f_old = new float[std::size_t(n) * n];
  *f_new = new float[std::size_t(n) * n];
  nvtxRangePop();
}

void free_fields(float* f_old, float* f_new) {
  nvtxRangePush("free_fields");
  // TODO(02): memory from cudaMallocManaged is freed with cudaFree, a call that can fail as well.
  delete[] f_old;
  delete[] f_new;
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

// One sweep over the interior. Returns the sum of the squared changes. It is a double, because a
// float sum of n^2 terms can be off by more than the contribution of a whole row.
double jacobi_sweep(float* f_new, const float* f_old, int n) {
  nvtxRangePush("jacobi_sweep");
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
