// The exact solution of the discrete equations, by which cycles over several grids are judged:
// proved by the equations themselves, by a problem whose solution is known in integers, and by
// single modes.

#include "reference/exact_solution.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "test_helpers.h"

namespace {

using lab::ProblemKind;
using test::kPi;
using validate::exact_solution;
using validate::SineModes;

class ExactSolutionTest : public ::testing::TestWithParam<int> {};

TEST_P(ExactSolutionTest, is_the_mean_of_its_neighbours_and_keeps_the_boundary) {
  const int n = GetParam();
  const lab::Problem problem(ProblemKind::kProbe, n);
  const std::vector<double> field = exact_solution(problem);
  ASSERT_EQ(field.size(), static_cast<std::size_t>(n) * n);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      const double* f = &field[static_cast<std::size_t>(j) * n + i];
      if (i == 0 || j == 0 || i == n - 1 || j == n - 1) {
        ASSERT_EQ(*f, problem.initial_old()(i, j)) << i << ", " << j;
      } else {
        ASSERT_NEAR(*f, (f[1] + f[-1] + f[n] + f[-n]) / 4, 1e-14) << i << ", " << j;
      }
    }
  }
}

TEST_P(ExactSolutionTest, is_x2_minus_y2_for_the_harmonic_problem) {
  const int n = GetParam();
  const std::vector<double> field = exact_solution(lab::Problem(ProblemKind::kHarmonic, n));
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      const double expected = static_cast<double>(i + j) * (i - j);
      ASSERT_NEAR(field[static_cast<std::size_t>(j) * n + i], expected, 1e-12 * n * n)
          << i << ", " << j;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, ExactSolutionTest, ::testing::Values(3, 4, 5, 34, 101));

TEST(SineModesTest, find_the_amplitudes_of_a_sum_of_modes) {
  constexpr int kN = 40, kM = kN - 2;
  std::vector<double> interior;
  for (int j = 1; j <= kM; ++j) {
    for (int i = 1; i <= kM; ++i) {
      const double x = kPi * i / (kN - 1), y = kPi * j / (kN - 1);
      interior.push_back(2.5 * std::sin(3 * x) * std::sin(y) - std::sin(kM * x) * std::sin(7 * y));
    }
  }
  const std::vector<double> found = SineModes(kN).amplitudes(interior);
  for (int q = 1; q <= kM; ++q) {
    for (int p = 1; p <= kM; ++p) {
      const double expected = p == 3 && q == 1 ? 2.5 : p == kM && q == 7 ? -1 : 0;
      ASSERT_NEAR(found[static_cast<std::size_t>(q - 1) * kM + p - 1], expected, 1e-12)
          << p << ", " << q;
    }
  }
}

}  // namespace
