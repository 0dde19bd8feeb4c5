// Proves the reference apart from every step: by a field that no sweep may change, by the decay of
// one eigenmode, and by the discrete sine transform, which gives the field after K sweeps at once.

#include "reference/reference.h"

#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <lab/problem.h>

#include "test_helpers.h"

namespace {

using lab::Problem;
using lab::ProblemKind;
using test::field_of;
using test::kPi;
using test::make_field;
using validate::Reference;

/// Half a unit in the last place of a float, relative.
const double kRounding = std::ldexp(1.0, -24);

/// What K sweeps in float can be off the same sweeps in exact arithmetic, for values up to
/// `largest`. Each of the three additions rounds by at most half a unit in the last place of sums
/// of up to two, two and four values: 8 units in all, a quarter of which is 2. The product with
/// 0.25 is exact, and a mean amplifies nothing, so K sweeps add up to 2 K; 2.25 leaves room for
/// second-order terms. (It is half the bound that compare_field allows between two such runs.)
double rounding_bound(int sweeps, double largest) { return 2.25 * sweeps * kRounding * largest; }

class HarmonicFieldTest : public ::testing::TestWithParam<int> {};

TEST_P(HarmonicFieldTest, is_changed_by_no_sweep) {
  const Problem problem(ProblemKind::kHarmonic, GetParam());
  Reference reference(problem);
  const std::vector<float> before = field_of(reference);
  for (int sweep = 1; sweep <= 20; ++sweep) {
    ASSERT_EQ(reference.sweep(), 0.0) << "sweep " << sweep;
  }
  EXPECT_TRUE(test::same_bits(field_of(reference), before));
}

INSTANTIATE_TEST_SUITE_P(Sizes, HarmonicFieldTest,
                         ::testing::Values(3, 4, 5, 10, 33, 100, 250, 1001, 2048,
                                           lab::kMaxHarmonicN));

TEST(ReferenceTest, damps_an_eigenmode_at_its_rate) {
  constexpr int kN = 250;
  const double t = kPi / (kN - 1);
  const double lambda = (std::cos(2 * t) + std::cos(3 * t)) / 2;
  const double first = (1 - lambda) * (kN - 1) / (2.0 * kN);
  ASSERT_NEAR(lambda, 0.999482701254, 1e-12);
  ASSERT_NEAR(first, 2.57614775e-4, 1e-12);

  Reference reference(kN, make_field(kN, [&](int i, int j) {
                        const bool boundary = i == 0 || j == 0 || i == kN - 1 || j == kN - 1;
                        return boundary ? 0.0 : std::sin(2 * t * i) * std::sin(3 * t * j);
                      }));
  // A point's change, up to 5e-4, is the difference of two values that are off by some 2^-24 = 6e-8
  // each. Were all these errors alike, the residual would be off by 2e-4 of its value. But their
  // signs differ from point to point: what they have in common with the mode is less by the root of
  // the 62,000 points, some 1e-6 of the residual (4e-6 was the most in 1000 sweeps), and the rest
  // is added in quadrature. A sweep lost or made twice is 50 times above the bound, and an error of
  // 1e-8 in the weights, which changes 1 - lambda by 8e-5 of its value, is 8 times above it.
  constexpr double kBound = 1e-5;
  for (int k = 0; k < 1000; ++k) {
    const double expected = first * std::pow(lambda, k);
    ASSERT_NEAR(reference.sweep() / expected, 1.0, kBound) << "after sweep " << k + 1;
  }
}

/// A square matrix, row by row.
using Matrix = std::vector<double>;

Matrix product(const Matrix& a, const Matrix& b, int m) {
  Matrix c(a.size(), 0.0);
  for (int p = 0; p < m; ++p) {
    for (int q = 0; q < m; ++q) {
      for (int r = 0; r < m; ++r) c[p * m + r] += a[p * m + q] * b[q * m + r];
    }
  }
  return c;
}

/// The interior of a field with zero boundary after K exact sweeps: expanded in sine modes, each
/// multiplied by its eigenvalue K times, and put together again. Never sweeps.
Matrix sweeps_by_sine_transform(const Matrix& interior, int m, int sweeps) {
  const double t = kPi / (m + 1);
  Matrix sine(interior.size());
  for (int p = 0; p < m; ++p) {
    for (int i = 0; i < m; ++i) sine[p * m + i] = std::sin(t * (p + 1) * (i + 1));
  }
  Matrix modes = product(product(sine, interior, m), sine, m);
  for (int p = 0; p < m; ++p) {
    for (int q = 0; q < m; ++q) {
      const double lambda = (std::cos(t * (p + 1)) + std::cos(t * (q + 1))) / 2;
      modes[p * m + q] *= std::pow(lambda, sweeps) * 4 / ((m + 1.0) * (m + 1.0));
    }
  }
  return product(product(sine, modes, m), sine, m);
}

class SineTransformTest : public ::testing::TestWithParam<int> {};

TEST_P(SineTransformTest, agrees_with_sweeps_of_a_random_field) {
  constexpr int kN = 34;
  constexpr int kInterior = kN - 2;
  const int sweeps = GetParam();
  std::mt19937 random(20240501);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  const std::vector<float> start = make_field(kN, [&](int i, int j) {
    const bool boundary = i == 0 || j == 0 || i == kN - 1 || j == kN - 1;
    return boundary ? 0.0f : uniform(random);
  });
  Matrix interior;
  for (int j = 1; j < kN - 1; ++j) {
    for (int i = 1; i < kN - 1; ++i) interior.push_back(start[j * kN + i]);
  }

  Reference reference(kN, start);
  const double bound = rounding_bound(sweeps, reference.max_abs());
  double residual = 0;
  for (int k = 0; k < sweeps; ++k) residual = reference.sweep();

  const Matrix exact = sweeps_by_sine_transform(interior, kInterior, sweeps);
  const Matrix before = sweeps_by_sine_transform(interior, kInterior, sweeps - 1);
  double largest = 0, squared_changes = 0;
  for (int j = 0; j < kInterior; ++j) {
    for (int i = 0; i < kInterior; ++i) {
      const double value = exact[j * kInterior + i];
      ASSERT_NEAR(reference.row(j + 1)[i + 1], value, bound)
          << "i = " << i + 1 << ", j = " << j + 1;
      largest = std::max(largest, std::fabs(value));
      const double change = value - before[j * kInterior + i];
      squared_changes += change * change;
    }
  }
  // Were the field itself no larger than the bound, zeros would pass.
  EXPECT_GT(largest, 100 * bound);
  // A change is the difference of two values, each within the bound.
  EXPECT_NEAR(residual, std::sqrt(squared_changes) / kN, 2 * bound);
}

INSTANTIATE_TEST_SUITE_P(Sweeps, SineTransformTest, ::testing::Values(1, 2, 3, 10, 100, 400));

TEST(ReferenceTest, comes_to_the_solution_of_the_laplace_problem) {
  constexpr int kN = 34;
  const Problem problem(ProblemKind::kLaplace, kN);
  Reference reference(problem);
  const double at_start = problem.distance_to_exact(reference.row(0), 1, kN);
  double residual = 1;
  for (int k = 0; k < 5000; ++k) residual = reference.sweep();
  // In float it comes to rest where a sweep changes last places only.
  EXPECT_LT(residual, 1e-7);
  // What is left is the error of the five-point formula: h^2/12 times fourth derivatives of
  // sin(2 pi y) sinh(2 pi x), so (2 pi h)^2/12 = 0.3 % in the equation, and less in its solution.
  const double distance = problem.distance_to_exact(reference.row(0), 1, kN);
  EXPECT_NEAR(at_start, 1.0, 1e-12);
  EXPECT_LT(distance, 0.003);
  EXPECT_GT(distance, 1e-5);
}

class PlainLoopsTest : public ::testing::TestWithParam<int> {};

// All sizes around the eight partial sums of a row and their remainder.
TEST_P(PlainLoopsTest, give_the_same_bits) {
  const int n = GetParam();
  const Problem problem(ProblemKind::kProbe, n);
  Reference reference(problem);
  std::vector<float> old_field = make_field(n, problem.initial_old());
  std::vector<float> new_field = make_field(n, problem.initial_new());
  for (int sweep = 1; sweep <= 3; ++sweep) {
    double sum = 0;
    for (int i = 1; i < n - 1; ++i) {
      for (int j = 1; j < n - 1; ++j) {
        const float* f = &old_field[j * n + i];
        const float value = 0.25f * ((f[1] + f[n]) + (f[-1] + f[-n]));
        const double change = value - f[0];
        new_field[j * n + i] = value;
        sum += change * change;
      }
    }
    old_field.swap(new_field);
    const double expected = std::sqrt(sum / (static_cast<double>(n) * n));
    // n^2 squares in another order, and two roundings for the division and the root.
    EXPECT_NEAR(reference.sweep(), expected, (n * n + 4) * std::ldexp(1.0, -53) * expected);
    ASSERT_TRUE(test::same_bits(field_of(reference), old_field)) << "sweep " << sweep;
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, PlainLoopsTest, ::testing::Range(3, 36));

TEST(ReferenceTest, is_the_same_for_any_number_of_threads) {
  constexpr int kN = 700;  // large enough that seven threads get work
  const Problem problem(ProblemKind::kProbe, kN);
  Reference one(problem, 1);
  std::vector<double> residuals;
  for (int k = 0; k < 5; ++k) residuals.push_back(one.sweep());
  for (int threads : {2, 3, 7}) {
    Reference several(problem, threads);
    for (double residual : residuals) EXPECT_EQ(several.sweep(), residual) << threads << " threads";
    EXPECT_TRUE(test::same_bits(field_of(several), field_of(one))) << threads << " threads";
  }
}

TEST(ReferenceTest, takes_more_threads_than_rows) {
  const Problem problem(ProblemKind::kProbe, 3);
  Reference one(problem, 1), many(problem, 16);
  EXPECT_EQ(many.sweep(), one.sweep());
  EXPECT_TRUE(test::same_bits(field_of(many), field_of(one)));
}

TEST(ReferenceTest, never_touches_the_boundary) {
  constexpr int kN = 50;
  const Problem problem(ProblemKind::kProbe, kN);
  Reference reference(problem);
  for (int k = 0; k < 4; ++k) reference.sweep();
  for (int k = 0; k < kN; ++k) {
    EXPECT_EQ(reference.row(0)[k], problem.initial_old()(k, 0));
    EXPECT_EQ(reference.row(kN - 1)[k], problem.initial_old()(k, kN - 1));
    EXPECT_EQ(reference.row(k)[0], problem.initial_old()(0, k));
    EXPECT_EQ(reference.row(k)[kN - 1], problem.initial_old()(kN - 1, k));
  }
}

TEST(ReferenceTest, max_abs_counts_negative_values) {
  std::vector<float> field(16, 0.5f);
  field[5] = -3.0f;
  EXPECT_EQ(Reference(4, field).max_abs(), 3.0);
}

}  // namespace
