// Where there is no GPU, every GPU step says so in one line and exits with 77.

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "run/steps.h"
#include "test_helpers.h"

namespace {

struct Program {
  std::string path;

  /// "02_unified_memory" of ".../solution_02_unified_memory".
  std::string step() const {
    const std::string name = path.substr(path.rfind('/') + 1);
    return name.substr(name.find('_') + 1);
  }
};

void PrintTo(const Program& program, std::ostream* out) { *out << program.step(); }

/// The GPU steps' programs; none where there is no CUDA Toolkit.
std::vector<Program> gpu_programs() {
  std::vector<Program> programs;
#ifdef LAB_GPU_SOLUTIONS
  for (const std::string& path : validate::split(LAB_GPU_SOLUTIONS, '|')) {
    programs.push_back({path});
  }
#endif
  return programs;
}

class NoGpuTest : public ::testing::TestWithParam<Program> {};

TEST_P(NoGpuTest, is_one_line_and_exit_code_77) {
  const test::Ended ended = test::run_program({GetParam().path, "--n", "64"});
  if (ended.exit_code == 0) GTEST_SKIP() << "there is a GPU";
  EXPECT_EQ(ended.exit_code, 77);
  EXPECT_EQ(ended.err.rfind(GetParam().step() + ": ", 0), 0u) << ended.err;
  EXPECT_NE(ended.err.find("GPU"), std::string::npos) << ended.err;
  EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
  EXPECT_EQ(ended.out, "");
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(NoGpuTest);
INSTANTIATE_TEST_SUITE_P(no_gpu, NoGpuTest, ::testing::ValuesIn(gpu_programs()));

}  // namespace
