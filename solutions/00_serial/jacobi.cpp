// 00_serial: the CPU code as found
//
// Solves Laplace's equation on n x n points of the unit square by Jacobi relaxation: each sweep
// sets every interior point to the mean of its four neighbours, until a sweep changes almost
// nothing. Runs on one CPU core. The steps that follow take it to the GPU, one idea at a time.
//
//   make check STEP=00
//   Ask the program: how does the time per point change with n?

#include <cmath>
#include <cstddef>
#include <limits>

#include <lab/options.h>
#include <lab/problem.h>
#include <lab/run.h>

constexpr int kDefaultN = 64;  // points per side, unless --n says otherwise

// Where point (i, j) stands in memory. i is x and j is y; both run from 0 to n - 1.
inline std::size_t idx(int i, int j, int n) { return std::size_t(i) * n + j; }

// Two fields of n x n floats: a sweep reads the old one and writes the new one.
void allocate_fields(float** f_old, float** f_new, int n) {
  lab::require_host_memory(n, 2 * sizeof(float));
  *f_old = new float[std::size_t(n) * n];
  *f_new = new float[std::size_t(n) * n];
}

void free_fields(float* f_old, float* f_new) {
  delete[] f_old;
  delete[] f_new;
}

// Gives every point its starting value; no sweep changes those on the boundary.
void initialize_field(float* f, const lab::StartingField& start, int n) {
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      f[idx(i, j, n)] = start(i, j);
    }
  }
}

// One sweep over the interior. Returns the sum of the squared changes. It is a double, because a
// float sum of n^2 terms can be off by more than the contribution of a whole row.
double jacobi_sweep(float* f_new, const float* f_old, int n) {
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
  return sum;
}

// Makes the new field the old one of the next sweep.
void copy_field(float* to, const float* from, int n) {
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      to[idx(i, j, n)] = from[idx(i, j, n)];
    }
  }
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
