#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <lab/problem.h>

namespace validate {

/// Floats that nothing has written yet: a page of them lies near the thread that writes it first.
inline std::unique_ptr<float[]> unwritten_floats(std::size_t count) {
  return std::unique_ptr<float[]>(new float[count]);
}

/// The n x n values with rows and columns exchanged.
template <typename Value>
std::vector<Value> transposed(const std::vector<Value>& values, int n) {
  std::vector<Value> result(values.size());
  for (std::size_t j = 0, side = n; j < side; ++j) {
    for (std::size_t i = 0; i < side; ++i) result[j * side + i] = values[i * side + j];
  }
  return result;
}

/// Where the share of one of `count` ranks, or threads, of n rows begins; of the last one and one
/// more, n.
inline int first_row(int n, int share, int count) {
  return static_cast<int>(static_cast<long long>(n) * share / count);
}

/// One row's update; returns the sum of its squared changes.
double sweep_row(float* __restrict__ out, const float* __restrict__ south,
                 const float* __restrict__ middle, const float* __restrict__ north, int n);

/// The answer that every step is held against: Jacobi sweeps on the CPU, rows in order, two fields.
///
/// The interior update is 0.25f * ((east + north) + (west + south)), in float and in this order, so
/// the field's bits are the same for any compiler and any number of threads. The residual,
/// sqrt(sum (new - old)^2 / n^2), is summed in double, row by row; its value too is the same for
/// any number of threads.
///
/// It is proved apart from the steps by validate/tests/unit/reference_test.cpp.
class Reference {
 public:
  /// Starts with the problem's initial fields. threads = 0: one per core.
  explicit Reference(const lab::Problem& problem, int threads = 0);

  /// Starts with `field`, n x n values, row j outer; its boundary is the one that no sweep changes.
  Reference(int n, const std::vector<float>& field);

  double sweep();  ///< makes one, and returns its residual

  // Of the current field.
  const float* row(int j) const { return &field_[static_cast<std::size_t>(j) * n_]; }
  std::vector<std::uint64_t> row_hashes() const;
  double max_abs() const;
  int n() const { return n_; }

 private:
  Reference(int n, int threads);

  const int n_;
  const int threads_;
  std::unique_ptr<float[]> field_, next_;  // n x n, row j outer
  std::vector<double> row_sums_;           // squared changes of the last sweep
};

}  // namespace validate
