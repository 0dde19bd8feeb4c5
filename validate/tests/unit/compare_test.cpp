#include "judge/compare.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "explain/looks/fields.h"
#include "test_helpers.h"

namespace {

using lab::Problem;
using lab::ProblemKind;
using test::kNan;
using validate::compare_field;
using validate::FieldComparison;
using validate::Record;
using validate::Reference;
using validate::ResidualComparison;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// A reference after some sweeps, and a copy of its field to spoil.
class CompareFieldTest : public ::testing::Test {
 protected:
  static constexpr int kN = 20;
  static constexpr int kSweeps = 3;

  CompareFieldTest() : reference_(Problem(ProblemKind::kProbe, kN)) {
    for (int k = 0; k < kSweeps; ++k) reference_.sweep();
    field_ = test::field_of(reference_);
  }
  float& at(int i, int j) { return field_[j * kN + i]; }
  FieldComparison compare() const { return compare(reference_, kSweeps); }
  FieldComparison compare(const Reference& reference, int sweeps) const {
    return compare_field(reference, sweeps, field_);
  }

  Reference reference_;
  std::vector<float> field_;
};

TEST_F(CompareFieldTest, the_same_field_is_identical) {
  const FieldComparison result = compare();
  EXPECT_EQ(result.kind, FieldComparison::kIdentical);
  EXPECT_EQ(result.different, 0u);
  EXPECT_EQ(result.wrong, 0u);
  EXPECT_EQ(result.max_difference, 0.0);
  EXPECT_TRUE(result.first.empty());
}

TEST_F(CompareFieldTest, one_bit_inside_is_different_rounding) {
  at(7, 4) = test::flip_last_bit(at(7, 4));
  const FieldComparison result = compare();
  EXPECT_EQ(result.kind, FieldComparison::kDifferentRounding);
  EXPECT_EQ(result.different, 1u);
  EXPECT_EQ(result.wrong, 0u);
  EXPECT_GT(result.max_difference, 0.0);
}

// No sweep touches the boundary.
TEST_F(CompareFieldTest, one_bit_on_the_boundary_is_wrong) {
  for (auto [i, j] :
       {std::pair(0, 5), {kN - 1, 5}, {5, 0}, {5, kN - 1}, {0, 0}, {kN - 1, kN - 1}}) {
    field_ = test::field_of(reference_);
    at(i, j) = test::flip_last_bit(at(i, j));
    EXPECT_EQ(compare().kind, FieldComparison::kWrong) << "i = " << i << ", j = " << j;
  }
}

TEST_F(CompareFieldTest, another_order_of_the_additions_is_different_rounding) {
  std::vector<float> next = test::make_field(kN, Problem(ProblemKind::kProbe, kN).initial_old());
  for (int k = 0; k < kSweeps; ++k) {
    field_ = next;
    for (int j = 1; j < kN - 1; ++j) {
      for (int i = 1; i < kN - 1; ++i) {
        next[j * kN + i] = 0.25f * (((at(i - 1, j) + at(i + 1, j)) + at(i, j - 1)) + at(i, j + 1));
      }
    }
  }
  field_ = next;
  const FieldComparison result = compare();
  EXPECT_EQ(result.kind, FieldComparison::kDifferentRounding);
  EXPECT_GT(result.different, 50u) << "about half of the points";
}

TEST_F(CompareFieldTest, rounding_is_bounded_by_the_sweeps_made) {
  const double bound = 4.5 * kSweeps * std::ldexp(1.0, -24) * reference_.max_abs();
  at(7, 4) += static_cast<float>(0.9 * bound);
  EXPECT_EQ(compare().kind, FieldComparison::kDifferentRounding);
  EXPECT_EQ(compare(reference_, 1).kind, FieldComparison::kWrong);
  field_ = test::field_of(reference_);
  at(7, 4) += static_cast<float>(1.2 * bound);
  EXPECT_EQ(compare().kind, FieldComparison::kWrong);
}

TEST_F(CompareFieldTest, wrong_points_are_boxed_counted_and_listed_row_by_row) {
  const float expected = at(7, 4);
  at(7, 4) += 0.5f;
  at(3, 5) -= 2.0f;
  at(5, 9) += 1.0f;
  at(2, 2) = test::flip_last_bit(at(2, 2));
  const FieldComparison result = compare();
  EXPECT_EQ(result.kind, FieldComparison::kWrong);
  EXPECT_EQ(result.different, 4u);
  EXPECT_EQ(result.wrong, 3u);
  EXPECT_NEAR(result.max_difference, 2.0, 1e-6);
  EXPECT_EQ(result.i_min, 3);
  EXPECT_EQ(result.i_max, 7);
  EXPECT_EQ(result.j_min, 4);
  EXPECT_EQ(result.j_max, 9);
  ASSERT_EQ(result.first.size(), 3u);
  EXPECT_EQ(result.first[0].i, 7);
  EXPECT_EQ(result.first[0].j, 4);
  EXPECT_EQ(result.first[0].expected, expected);
  EXPECT_EQ(result.first[0].found, expected + 0.5f);
  EXPECT_EQ(result.first[1].i, 3);
  EXPECT_EQ(result.first[2].i, 5);
}

TEST_F(CompareFieldTest, a_field_wrong_everywhere_lists_a_few_points) {
  for (float& value : field_) value += 1.0f;
  const FieldComparison result = compare();
  EXPECT_EQ(result.wrong, static_cast<std::size_t>(kN) * kN);
  EXPECT_EQ(result.i_min, 0);
  EXPECT_EQ(result.i_max, kN - 1);
  EXPECT_EQ(result.j_min, 0);
  EXPECT_EQ(result.j_max, kN - 1);
  EXPECT_GE(result.first.size(), 1u);
  EXPECT_LE(result.first.size(), 10u);
}

TEST_F(CompareFieldTest, the_field_of_one_sweep_less_is_wrong) {
  reference_.sweep();
  EXPECT_EQ(compare(reference_, kSweeps + 1).kind, FieldComparison::kWrong);
}

TEST_F(CompareFieldTest, nan_and_infinity_are_wrong) {
  for (float value : {kNan, -kNan, kInfinity, -kInfinity}) {
    field_ = test::field_of(reference_);
    at(7, 4) = value;
    const FieldComparison result = compare();
    EXPECT_EQ(result.kind, FieldComparison::kWrong) << value;
    EXPECT_EQ(result.wrong, 1u) << value;
    EXPECT_EQ(result.i_min, 7) << value;
    EXPECT_EQ(result.j_max, 4) << value;
  }
}

TEST_F(CompareFieldTest, nan_does_not_hide_the_largest_difference) {
  at(2, 4) = kNan;
  at(7, 4) += 0.5f;
  at(9, 4) = kNan;
  EXPECT_NEAR(compare().max_difference, 0.5, 1e-6);
}

TEST_F(CompareFieldTest, values_below_1e_minus_30_are_equal_to_zero) {
  // The front of the laplace problem has not come to the middle after one sweep: zeros.
  Reference reference(Problem(ProblemKind::kLaplace, kN));
  reference.sweep();
  ASSERT_EQ(reference.row(10)[10], 0.0f);
  for (float value : {-0.0f, 1e-31f, -1e-31f, 1e-45f}) {
    field_ = test::field_of(reference);
    at(10, 10) = value;
    EXPECT_EQ(compare(reference, 1).kind, FieldComparison::kIdentical) << value;
  }
  field_ = test::field_of(reference);
  at(10, 10) = 1e-29f;
  EXPECT_EQ(compare(reference, 1).kind, FieldComparison::kDifferentRounding);
}

// memcmp alone would call these different, and a difference alone would call NaN equal.
TEST_F(CompareFieldTest, zeros_of_both_signs_are_equal_on_the_boundary_too) {
  const Reference reference(kN, std::vector<float>(kN * kN, 0.0f));
  field_.assign(kN * kN, -0.0f);
  EXPECT_EQ(compare(reference, 1).kind, FieldComparison::kIdentical);
  // What explains a wrong field sees it as what judges it does.
  EXPECT_EQ(validate::differing(test::field_of(reference), field_, kN, 1).count(), 0);
  at(0, 3) = kNan;
  EXPECT_EQ(compare(reference, 1).kind, FieldComparison::kWrong);
}

constexpr int kCompareN = 100;
const double kExactBound = kCompareN * kCompareN * std::ldexp(1.0, -53);  // 1.1e-12

ResidualComparison compare(const std::vector<double>& expected,
                           const std::vector<Record::Residual>& found) {
  return validate::compare_residuals(expected, found, kCompareN);
}

/// The kind for a residual that differs by `relative` from 0.001.
ResidualComparison::Kind kind_at(double relative) {
  return compare({0.001}, {{1, 0.001 * (1 + relative)}}).kind;
}

TEST(CompareResidualsTest, the_same_residuals_are_exact) {
  const ResidualComparison result = compare({1, 0.5, 0.25}, {{1, 1}, {2, 0.5}, {3, 0.25}});
  EXPECT_EQ(result.kind, ResidualComparison::kExact);
}

TEST(CompareResidualsTest, another_order_of_a_sum_in_double_is_exact) {
  EXPECT_EQ(kind_at(0.9 * kExactBound), ResidualComparison::kExact);
  EXPECT_EQ(kind_at(-0.9 * kExactBound), ResidualComparison::kExact);
}

TEST(CompareResidualsTest, up_to_1e_minus_6_is_single_precision) {
  for (double relative : {2 * kExactBound, -2 * kExactBound, 1e-7, -3e-7, 0.99e-6, -0.99e-6}) {
    EXPECT_EQ(kind_at(relative), ResidualComparison::kSinglePrecision) << relative;
  }
}

TEST(CompareResidualsTest, more_is_wrong) {
  for (double relative : {1.01e-6, -1.01e-6, 1e-5, 0.01, 1.0, -1.0, -2.0, 1e300}) {
    EXPECT_EQ(kind_at(relative), ResidualComparison::kWrong) << relative;
  }
}

TEST(CompareResidualsTest, nan_and_infinity_are_wrong) {
  for (double value : {std::nan(""), -std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    EXPECT_EQ(compare({0.5}, {{1, value}}).kind, ResidualComparison::kWrong) << value;
    EXPECT_EQ(compare({0.0}, {{1, value}}).kind, ResidualComparison::kWrong) << value;
  }
}

TEST(CompareResidualsTest, where_the_right_one_is_zero_only_zero_is_right) {
  EXPECT_EQ(compare({0.0}, {{1, 0.0}}).kind, ResidualComparison::kExact);
  EXPECT_EQ(compare({0.0}, {{1, -0.0}}).kind, ResidualComparison::kExact);
  for (double value : {1.0, 1e-3, 1e-7, -1e-7, 1e-13, 1e-300}) {
    EXPECT_EQ(compare({0.0}, {{1, value}}).kind, ResidualComparison::kWrong) << value;
  }
}

TEST(CompareResidualsTest, the_first_wrong_iteration_is_told) {
  const ResidualComparison result =
      compare({1, 0.5, 0.25, 0.125}, {{1, 1}, {2, 0.5 * (1 + 1e-7)}, {3, 0.3}, {4, 7}});
  EXPECT_EQ(result.kind, ResidualComparison::kWrong);
  EXPECT_EQ(result.iteration, 3);
  EXPECT_EQ(result.expected, 0.25);
  EXPECT_EQ(result.found, 0.3);
}

TEST(CompareResidualsTest, right_ones_after_a_nan_do_not_hide_it) {
  const ResidualComparison result = compare({1, 0.5}, {{1, std::nan("")}, {2, 0.5}});
  EXPECT_EQ(result.kind, ResidualComparison::kWrong);
  EXPECT_EQ(result.iteration, 1);
}

TEST(CompareResidualsTest, sparse_residuals_are_held_against_their_own_iterations) {
  EXPECT_EQ(compare({1, 0.5, 0.25, 0.125}, {{2, 0.5}, {4, 0.125}}).kind,
            ResidualComparison::kExact);
  EXPECT_EQ(compare({1, 0.5, 0.25, 0.125}, {{2, 1}}).kind, ResidualComparison::kWrong);
}

}  // namespace
