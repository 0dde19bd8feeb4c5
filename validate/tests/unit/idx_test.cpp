// The index function of every step, taken out of the solutions by CMake.

#include <cstddef>
#include <ostream>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "idx_of_steps.h"  // generated: kIdxOfSteps

void PrintTo(const IdxOfStep& step, std::ostream* out) { *out << step.name; }

namespace {

class IdxTest : public ::testing::TestWithParam<IdxOfStep> {
 protected:
  std::size_t idx(int i, int j, int n) const { return GetParam().idx(i, j, n); }
  /// Step 06 makes i the contiguous index.
  bool i_is_contiguous() const { return std::string(GetParam().name).substr(0, 2) >= "06"; }
  /// From step 12 on rows are padded to a multiple of 32 floats; step 16 begins with step 10.
  std::size_t pitch(int n) const {
    const std::string number = std::string(GetParam().name).substr(0, 2);
    return number >= "12" && number < "16" ? (n + 31) / 32 * 32 : n;
  }
};

TEST_P(IdxTest, goes_past_2_to_the_31) {
  EXPECT_EQ(idx(65535, 65535, 65536), 65536ull * 65536 - 1);
  EXPECT_EQ(idx(46341, 46341, 46342), pitch(46342) * 46341 + 46341);  // 2^31 and a little
  constexpr int kLargest = 1 << 20;                                   // lab::kMaxN
  EXPECT_EQ(idx(kLargest - 1, kLargest - 1, kLargest), (std::size_t{1} << 40) - 1);
}

TEST_P(IdxTest, has_the_strides_of_its_step) {
  for (int n : {3, 64, 100, 65536}) {
    const std::size_t along_i = i_is_contiguous() ? 1 : n;
    const std::size_t along_j = i_is_contiguous() ? pitch(n) : 1;
    EXPECT_EQ(idx(0, 0, n), 0u);
    EXPECT_EQ(idx(1, 0, n), along_i);
    EXPECT_EQ(idx(0, 1, n), along_j);
    EXPECT_EQ(idx(n - 1, 0, n), (n - 1) * along_i);
    EXPECT_EQ(idx(0, n - 1, n), (n - 1) * along_j);
  }
}

TEST_P(IdxTest, gives_every_point_a_place_of_its_own) {
  for (int n : {3, 4, 7, 32, 33}) {
    std::set<std::size_t> places;
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) places.insert(idx(i, j, n));
    }
    EXPECT_EQ(places.size(), static_cast<std::size_t>(n) * n);
    EXPECT_EQ(*places.rbegin(), pitch(n) * (n - 1) + n - 1);
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(IdxTest);
INSTANTIATE_TEST_SUITE_P(Steps, IdxTest, ::testing::ValuesIn(kIdxOfSteps));

}  // namespace
