// What the ladder times on the CPU, and what it says of it.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "ladder/ladder.h"
#include "test_helpers.h"

namespace {

using validate::Ladder;

/// A ladder with one row that was timed at n = 64, and a step 00 that only says that it ran.
class LadderTest : public ::testing::Test {
 protected:
  LadderTest() {
    strided_.name = "00_serial";
    std::ofstream(program()) << "#!/bin/sh\ntouch " << folder_.path() << "/ran\n";
    std::filesystem::permissions(program(), std::filesystem::perms::owner_all);
    validate::LadderRow row{};
    row.step.name = "04_kernel";
    row.step.n = 64;
    row.verdict = "right";
    row.time = {1, 1, 1, 11};
    ladder_.rows.push_back(row);
  }
  std::string program() const { return folder_.path() + "/solution_00_serial"; }
  bool strided_ran() const { return test::exists(folder_.path() + "/ran"); }

  const test::TemporaryFolder folder_;
  validate::Step strided_{};
  Ladder ladder_;
};

TEST_F(LadderTest, the_best_code_is_timed_on_one_core_and_on_all) {
  validate::Climb(folder_.path(), 0, &ladder_).measure_cpu(strided_);
  EXPECT_TRUE(strided_ran());
  EXPECT_TRUE(ladder_.cpu.at(64).best.measured());
  EXPECT_TRUE(ladder_.cpu.at(64).all_cores.measured());
  EXPECT_EQ(ladder_.cpu.at(64).threads, 1);
}

TEST_F(LadderTest, strided_code_is_not_timed_on_large_grids) {
  ladder_.max_strided_n = 50;
  validate::Climb(folder_.path(), 0, &ladder_).measure_cpu(strided_);
  EXPECT_FALSE(strided_ran());
  EXPECT_TRUE(ladder_.cpu.at(64).best.measured());
  testing::internal::CaptureStdout();
  validate::print_table(ladder_);
  EXPECT_NE(testing::internal::GetCapturedStdout().find(" not timed\n"), std::string::npos);
}

TEST_F(LadderTest, what_was_not_timed_is_not_in_the_head) {
  ladder_.cpu[64] = {{2, 2, 2, 11}, {0.5, 0.4, 0.75, 11}, {}, 3};
  validate::write_results(folder_.path(), ladder_);
  const std::string table = test::read_file(folder_.path() + "/ladder.tsv");
  EXPECT_NE(table.find("\n# serial\tbest\tn\t64\tms\t2\t"), std::string::npos);
  EXPECT_NE(
      table.find("\n# all_cores\tn\t64\tthreads\t3\tms\t0.5\tq1\t0.4\tq3\t0.75\tsamples\t11\n"),
      std::string::npos);
  EXPECT_EQ(table.find("strided\tn"), std::string::npos);
}

}  // namespace
