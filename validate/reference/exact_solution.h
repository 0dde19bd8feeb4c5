#pragma once

#include <vector>

#include <lab/problem.h>

namespace validate {

/// The largest n for which the exact solution is computed: n^3 additions take their time.
inline constexpr int kMaxExactN = 1043;

/// The sine modes of fields of n x n points that are 0 on the boundary.
///
/// Mode (p, q), 1 <= p, q <= n - 2, is sin(pi p i / (n - 1)) sin(pi q j / (n - 1)) at point (i, j).
/// A Jacobi sweep multiplies it by (cos(pi p / (n - 1)) + cos(pi q / (n - 1))) / 2.
class SineModes {
 public:
  explicit SineModes(int n);

  /// The amplitudes of a field's modes; mode (p, q) stands at (q - 1) * (n - 2) + p - 1. `interior`
  /// has the field's (n - 2) x (n - 2) interior points, row j outer.
  std::vector<double> amplitudes(const std::vector<double>& interior) const;

  /// The same for modes along i alone: a row of amplitudes for each row of points.
  std::vector<double> along_rows(const std::vector<double>& rows) const;

  int per_side() const { return m_; }

 private:
  int m_;                     // modes along a side
  std::vector<double> sine_;  // m x m; symmetric, and its own inverse but for a factor
};

/// The solution of the discrete equations: each interior point is the mean of its four neighbours,
/// and the boundary is the problem's. n x n values, row j outer. By sine modes along i and one
/// tridiagonal system for each of them along j, so no iteration takes part. n at most kMaxExactN.
std::vector<double> exact_solution(const lab::Problem& problem);

}  // namespace validate
