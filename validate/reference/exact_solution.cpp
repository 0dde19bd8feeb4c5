#include "reference/exact_solution.h"

#include <cmath>
#include <cstddef>

#include "reference/reference.h"

namespace validate {
namespace {

constexpr double kPi = 3.14159265358979323846;

/// Solves -x[j - 1] + diagonal x[j] - x[j + 1] = right[j] for a column of modes, by Thomas'
/// algorithm.
void solve_tridiagonal(double diagonal, int m, int stride, double* right) {
  std::vector<double> upper(m);
  double pivot = diagonal;
  for (int j = 0; j < m; ++j) {
    if (j > 0) {
      pivot = diagonal - upper[j - 1];
      right[j * stride] += right[(j - 1) * stride];
    }
    upper[j] = 1 / pivot;
    right[j * stride] /= pivot;
  }
  for (int j = m - 2; j >= 0; --j) right[j * stride] += upper[j] * right[(j + 1) * stride];
}

}  // namespace

SineModes::SineModes(int n) : m_(n - 2), sine_(static_cast<std::size_t>(m_) * m_) {
  for (int p = 0; p < m_; ++p) {
    for (int i = 0; i < m_; ++i) {
      // The product is reduced first: the sine of a large number loses digits.
      const long long turn = static_cast<long long>(p + 1) * (i + 1) % (2LL * (n - 1));
      sine_[static_cast<std::size_t>(p) * m_ + i] = std::sin(kPi * turn / (n - 1));
    }
  }
}

std::vector<double> SineModes::along_rows(const std::vector<double>& rows) const {
  std::vector<double> result(rows.size(), 0.0);
  const double factor = 2.0 / (m_ + 1);
  for (std::size_t row = 0; row < rows.size() / m_; ++row) {
    double* to = &result[row * m_];
    for (int i = 0; i < m_; ++i) {
      const double value = factor * rows[row * m_ + i];
      if (value == 0) continue;  // most of exact_solution's right-hand side
      const double* sine = &sine_[static_cast<std::size_t>(i) * m_];
      for (int p = 0; p < m_; ++p) to[p] += value * sine[p];
    }
  }
  return result;
}

std::vector<double> SineModes::amplitudes(const std::vector<double>& interior) const {
  return transposed(along_rows(transposed(along_rows(interior), m_)), m_);
}

std::vector<double> exact_solution(const lab::Problem& problem) {
  const int n = problem.n(), m = n - 2;
  const lab::StartingField& start = problem.initial_old();
  std::vector<double> right(static_cast<std::size_t>(m) * m, 0.0);
  for (int k = 0; k < m; ++k) {
    right[k] += start(k + 1, 0);
    right[std::size_t(m - 1) * m + k] += start(k + 1, n - 1);
    right[std::size_t(k) * m] += start(0, k + 1);
    right[std::size_t(k) * m + m - 1] += start(n - 1, k + 1);
  }
  const SineModes modes(n);
  std::vector<double> columns = modes.along_rows(right);
  for (int p = 0; p < m; ++p) {
    const double diagonal = 4 - 2 * std::cos(kPi * (p + 1) / (n - 1));
    solve_tridiagonal(diagonal, m, m, &columns[p]);
  }
  // The transform is its own inverse but for the factor 2 / (n - 1), which along_rows has.
  std::vector<double> interior = modes.along_rows(columns);
  for (double& value : interior) value *= (n - 1) / 2.0;
  std::vector<double> field(static_cast<std::size_t>(n) * n);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      const bool inside = i > 0 && i < n - 1 && j > 0 && j < n - 1;
      field[std::size_t(j) * n + i] =
          inside ? interior[std::size_t(j - 1) * m + i - 1] : double(start(i, j));
    }
  }
  return field;
}

}  // namespace validate
