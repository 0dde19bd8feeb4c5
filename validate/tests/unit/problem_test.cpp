#include <lab/problem.h>

#include <cmath>
#include <cstddef>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "test_helpers.h"

namespace {

using lab::Problem;
using lab::ProblemKind;
using lab::StartingField;
using test::kPi;
using test::make_field;

constexpr ProblemKind kAllKinds[] = {ProblemKind::kLaplace, ProblemKind::kProbe,
                                     ProblemKind::kHarmonic};

/// The formula, as the header states it.
double laplace_solution(double x, double y) {
  return std::sin(kPi * x) * std::sinh(kPi * (1 - y)) / std::sinh(kPi) +
         std::sin(2 * kPi * y) * std::sinh(2 * kPi * x) / std::sinh(2 * kPi);
}

TEST(LaplaceTest, boundary_follows_the_formula) {
  constexpr int kN = 101;
  const Problem problem(ProblemKind::kLaplace, kN);
  const StartingField& start = problem.initial_old();
  for (int k = 0; k < kN; ++k) {
    const double t = static_cast<double>(k) / (kN - 1);
    EXPECT_NEAR(start(k, 0), laplace_solution(t, 0), 1e-7) << "south, " << k;
    EXPECT_NEAR(start(k, kN - 1), laplace_solution(t, 1), 1e-7) << "north, " << k;
    EXPECT_NEAR(start(0, k), laplace_solution(0, t), 1e-7) << "west, " << k;
    EXPECT_NEAR(start(kN - 1, k), laplace_solution(1, t), 1e-7) << "east, " << k;
  }
}

TEST(LaplaceTest, south_is_a_half_sine_wave_and_east_a_full_one) {
  const Problem problem(ProblemKind::kLaplace, 5);
  EXPECT_FLOAT_EQ(problem.initial_old()(2, 0), 1.0f);
  EXPECT_FLOAT_EQ(problem.initial_old()(4, 1), 1.0f);
  EXPECT_FLOAT_EQ(problem.initial_old()(4, 3), -1.0f);
}

TEST(LaplaceTest, interior_starts_at_zero_in_both_fields) {
  const Problem problem(ProblemKind::kLaplace, 20);
  for (int j = 1; j < 19; ++j) {
    for (int i = 1; i < 19; ++i) {
      EXPECT_EQ(problem.initial_old()(i, j), 0.0f);
      EXPECT_EQ(problem.initial_new()(i, j), 0.0f);
    }
  }
}

TEST(LaplaceTest, is_not_symmetric_in_x_and_y) {
  constexpr int kN = 33;
  const Problem problem(ProblemKind::kLaplace, kN);
  const StartingField& start = problem.initial_old();
  int different = 0;
  for (int k = 1; k < kN - 1; ++k) different += std::fabs(start(k, 0) - start(0, k)) > 0.05;
  EXPECT_GT(different, kN / 2) << "south and west";
  different = 0;
  for (int k = 1; k < kN - 1; ++k) {
    different += std::fabs(start(k, kN - 1) - start(kN - 1, k)) > 0.05;
  }
  EXPECT_GT(different, kN / 2) << "north and east";
}

TEST(ProblemTest, sides_agree_at_the_corners) {
  for (ProblemKind kind : kAllKinds) {
    SCOPED_TRACE(lab::problem_name(kind));
    constexpr int kN = 30, kLast = kN - 1;
    const Problem problem(kind, kN);
    for (const StartingField* start : {&problem.initial_old(), &problem.initial_new()}) {
      const lab::StartingValue value = start->with_boundary_at(start->boundary.data());
      EXPECT_EQ(value.south[0], value.west[0]);
      EXPECT_EQ(value.south[kLast], value.east[0]);
      EXPECT_EQ(value.north[0], value.west[kLast]);
      EXPECT_EQ(value.north[kLast], value.east[kLast]);
    }
  }
}

TEST(ProblemTest, both_fields_have_the_same_boundary) {
  for (ProblemKind kind : kAllKinds) {
    SCOPED_TRACE(lab::problem_name(kind));
    const Problem problem(kind, 30);
    const StartingField &old_field = problem.initial_old(), &new_field = problem.initial_new();
    EXPECT_EQ(old_field.boundary, new_field.boundary);
    EXPECT_EQ(old_field.boundary.size(), 4 * 30u);
  }
}

TEST(ProbeTest, values_fill_the_interval_from_minus_one_to_one) {
  constexpr int kN = 100;
  const Problem problem(ProblemKind::kProbe, kN);
  double sum = 0, squares = 0;
  float low = 2, high = -2;
  std::set<float> values;
  for (float value : make_field(kN, problem.initial_old())) {
    ASSERT_GE(value, -1.0f);
    ASSERT_LT(value, 1.0f);
    sum += value;
    squares += value * value;
    low = std::min(low, value);
    high = std::max(high, value);
    values.insert(value);
  }
  // 10,000 uniform values: mean 0 +- 0.006, mean square 1/3 +- 0.003.
  EXPECT_NEAR(sum / (kN * kN), 0.0, 0.03);
  EXPECT_NEAR(squares / (kN * kN), 1.0 / 3, 0.015);
  EXPECT_LT(low, -0.99f);
  EXPECT_GT(high, 0.99f);
  // Few of them meet by chance among 2^24: 10,000^2 / 2 / 2^24 = 3.
  EXPECT_GT(values.size(), kN * kN - 20u);
}

/// How many points of the interior hold the same value in two fields of n points per side.
int equal_in_interior(const StartingField& a, const StartingField& b, int n) {
  int equal = 0;
  for (int j = 1; j < n - 1; ++j) {
    for (int i = 1; i < n - 1; ++i) equal += a(i, j) == b(i, j);
  }
  return equal;
}

TEST(ProbeTest, the_two_fields_differ_inside) {
  const Problem problem(ProblemKind::kProbe, 50);
  EXPECT_LT(equal_in_interior(problem.initial_old(), problem.initial_new(), 50), 5);
}

TEST(ProbeTest, is_not_symmetric_in_x_and_y) {
  const Problem problem(ProblemKind::kProbe, 50);
  int equal = 0;
  for (int j = 0; j < 50; ++j) {
    for (int i = 0; i < j; ++i) equal += problem.initial_old()(i, j) == problem.initial_old()(j, i);
  }
  EXPECT_LT(equal, 5);
}

TEST(ProbeTest, has_no_exact_solution) {
  EXPECT_FALSE(Problem(ProblemKind::kProbe, 10).has_exact_solution());
  EXPECT_TRUE(Problem(ProblemKind::kLaplace, 10).has_exact_solution());
  EXPECT_TRUE(Problem(ProblemKind::kHarmonic, 10).has_exact_solution());
}

TEST(HarmonicTest, values_are_the_exact_integers_up_to_the_largest_n) {
  constexpr int kN = lab::kMaxHarmonicN;
  const Problem problem(ProblemKind::kHarmonic, kN);
  const StartingField& start = problem.initial_old();
  for (int j : {0, 1, 2, 1000, 2047, kN - 2, kN - 1}) {
    for (int i = 0; i < kN; ++i) {
      ASSERT_EQ(static_cast<double>(start(i, j)),
                static_cast<double>(i) * i - static_cast<double>(j) * j)
          << "i = " << i << ", j = " << j;
    }
  }
}

TEST(HarmonicTest, the_field_that_is_written_starts_elsewhere_inside) {
  const Problem problem(ProblemKind::kHarmonic, 20);
  EXPECT_EQ(problem.initial_old()(7, 3), 40.0f);
  EXPECT_EQ(problem.initial_new()(7, 3), 0.0f);
  EXPECT_EQ(problem.initial_new()(19, 3), 352.0f);
}

/// The same field in both layouts that the steps use.
struct BothLayouts {
  int n;
  std::vector<float> rows, columns;

  template <typename Value>
  BothLayouts(int size, Value value)
      : n(size),
        rows(make_field(size, value)),
        columns(make_field(size, [&](int i, int j) { return value(j, i); })) {}

  double distance_of_rows(const Problem& problem) const {
    return problem.distance_to_exact(rows.data(), 1, n);
  }
  double distance_of_columns(const Problem& problem) const {
    return problem.distance_to_exact(columns.data(), n, 1);
  }
};

TEST(DistanceToExactTest, is_zero_for_the_harmonic_field) {
  for (int n : {3, 4, 100}) {
    const Problem problem(ProblemKind::kHarmonic, n);
    const BothLayouts field(n, problem.initial_old());
    EXPECT_EQ(field.distance_of_rows(problem), 0.0) << n;
    EXPECT_EQ(field.distance_of_columns(problem), 0.0) << n;
  }
}

TEST(DistanceToExactTest, is_float_epsilon_for_the_laplace_solution) {
  constexpr int kN = 100;
  const Problem problem(ProblemKind::kLaplace, kN);
  const BothLayouts field(
      kN, [](int i, int j) { return laplace_solution(i / (kN - 1.0), j / (kN - 1.0)); });
  EXPECT_LT(field.distance_of_rows(problem), std::ldexp(1.0, -24));
  EXPECT_LT(field.distance_of_columns(problem), std::ldexp(1.0, -24));
  EXPECT_GT(field.distance_of_rows(problem), 0.0);
}

TEST(DistanceToExactTest, is_one_for_a_field_of_zeros) {
  const Problem problem(ProblemKind::kLaplace, 50);
  const BothLayouts field(50, [](int, int) { return 0.0; });
  EXPECT_NEAR(field.distance_of_rows(problem), 1.0, 1e-12);
}

TEST(DistanceToExactTest, tells_a_transposed_field) {
  constexpr int kN = 50;
  const Problem problem(ProblemKind::kLaplace, kN);
  const BothLayouts field(
      kN, [](int i, int j) { return laplace_solution(j / (kN - 1.0), i / (kN - 1.0)); });
  EXPECT_GT(field.distance_of_rows(problem), 0.5);
  EXPECT_GT(field.distance_of_columns(problem), 0.5);
}

TEST(DistanceToExactTest, takes_rows_with_padding) {
  constexpr int kN = 50, kPitch = 64;
  const Problem problem(ProblemKind::kHarmonic, kN);
  std::vector<float> field(kPitch * kN, NAN);
  for (int j = 0; j < kN; ++j) {
    for (int i = 0; i < kN; ++i) field[j * kPitch + i] = problem.initial_old()(i, j);
  }
  EXPECT_EQ(problem.distance_to_exact(field.data(), 1, kPitch), 0.0);
}

TEST(DistanceToExactTest, takes_a_field_row_by_row) {
  // 2049 rows are fetched in two blocks.
  for (int n : {3, 9, 10, 11, 50, 2049}) {
    const Problem problem(ProblemKind::kLaplace, n);
    const std::vector<float> field =
        make_field(n, [n](int i, int j) { return i == n / 2 && j == n - 2 ? 0.5 : 0.25 * i / n; });
    const double distance = problem.distance_to_exact([&](float* to, int j, int rows) {
      std::copy_n(&field[static_cast<std::size_t>(j) * n], static_cast<std::size_t>(rows) * n, to);
    });
    // The sums are added up in another order.
    const double expected = problem.distance_to_exact(field.data(), 1, n);
    EXPECT_NEAR(distance, expected, 1e-12 * expected) << n;
  }
}

TEST(DistanceToExactTest, grows_with_one_wrong_point) {
  const Problem problem(ProblemKind::kHarmonic, 20);
  BothLayouts field(20, problem.initial_old());
  field.rows[5 * 20 + 7] += 1000.0f;
  EXPECT_GT(field.distance_of_rows(problem), 0.1);
}

TEST(DistanceToExactTest, is_not_a_number_where_the_field_is_not) {
  const Problem problem(ProblemKind::kLaplace, 20);
  BothLayouts field(20, problem.initial_old());
  field.rows[5 * 20 + 7] = NAN;
  EXPECT_TRUE(std::isnan(field.distance_of_rows(problem)));
}

}  // namespace
