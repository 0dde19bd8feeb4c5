#include "run/steps.h"

#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test_helpers.h"

namespace {

using validate::read_steps;
using validate::Step;

/// Reads `text` as a lab's list of steps.
std::vector<Step> steps_of(const std::string& text) {
  const test::TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() + "/lab");
  test::write_file(folder.path() + "/lab/steps.tsv", text);
  return read_steps(folder.path());
}

TEST(ReadStepsTest, reads_the_columns) {
  const std::vector<Step> steps = steps_of(
      "# a comment\n\n"
      "00_serial\tjacobi.cpp\tcpu\t64\t1000\tas found\t-\n"
      "04_jacobi_kernel\tjacobi.cu\tcuda\t2048\t30\tsweep on the GPU\t00_serial\n"
      "14_multi_gpu\tjacobi.cu\tranks\t32768\t900\tseveral GPUs\t04_jacobi_kernel\n");
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_FALSE(steps[0].needs_cuda);
  EXPECT_EQ(steps[1].name, "04_jacobi_kernel");
  EXPECT_EQ(steps[1].number(), "04");
  EXPECT_EQ(steps[1].source, "jacobi.cu");
  EXPECT_TRUE(steps[1].needs_cuda);
  EXPECT_FALSE(steps[1].needs_ranks);
  EXPECT_TRUE(steps[2].needs_cuda);
  EXPECT_TRUE(steps[2].needs_ranks);
  EXPECT_EQ(steps[1].n, 2048);
  EXPECT_EQ(steps[1].iterations, 30);
  EXPECT_EQ(steps[1].title, "sweep on the GPU");
}

TEST(ReadStepsTest, refuses_a_missing_list_and_bad_lines) {
  EXPECT_THROW(read_steps("/nowhere"), std::runtime_error);
  EXPECT_THROW(steps_of("00_serial\tjacobi.cpp\tcpu\t64\t1000\n"), std::runtime_error);
  EXPECT_THROW(steps_of("00_serial jacobi.cpp cpu 64 1000 blanks\n"), std::runtime_error);
}

TEST(ReadStepsTest, the_labs_own_list_is_in_order_and_every_step_has_its_exercise) {
  const std::vector<Step> steps = read_steps(LAB_SOURCE_DIR);
  ASSERT_FALSE(steps.empty());
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const Step& step = steps[k];
    if (k > 0) {
      EXPECT_LT(steps[k - 1].number(), step.number());
    }
    EXPECT_TRUE(
        test::exists(std::string(LAB_SOURCE_DIR) + "/exercises/" + step.name + "/" + step.source))
        << step.name;
    EXPECT_GE(step.n, 3) << step.name;
    EXPECT_GE(step.iterations, 1) << step.name;
    EXPECT_LE(step.title.size(), 20u) << step.name << ": it stands in a table's column";
  }
}

TEST(SplitTest, keeps_empty_fields_inside) {
  EXPECT_EQ(validate::split("a\t\tb", '\t'), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(validate::split("", ','), std::vector<std::string>{});
}

}  // namespace
