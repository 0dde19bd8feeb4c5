// The verdict on programs whose iterations are cycles. The serial step under step 16's name stands
// for one of them: with a sweep a cycle it is right, and slow.

#include "judge/check_cycles.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test_helpers.h"

namespace {

using validate::Verdict;

class CheckCyclesTest : public test::SerialProgramTest {
 protected:
  /// The verdict on the serial step, whose record `spoil` spoils. It finds $n, $iterations and $dir
  /// set. `runs_` are then all that were announced.
  Verdict check(const std::string& spoil) {
    write_program(spoil);
    return validate::check_cycles(asked_, [this](const std::string& run) { runs_.push_back(run); });
  }
  void write_program(const std::string& spoil) {
    asked_.program = temporary("program.sh");
    test::write_script(asked_.program, "'" + test::kSerialProgram +
                                           "' \"$@\" || exit\n"
                                           "while [ $# -gt 0 ]; do\n"
                                           "  case $1 in\n"
                                           "    --n) n=$2 ;;\n"
                                           "    --iterations) iterations=$2 ;;\n"
                                           "    --record) dir=$2 ;;\n"
                                           "  esac\n"
                                           "  shift\n"
                                           "done\n" +
                                           spoil);
  }
  bool was_run(const std::string& run) const {
    return std::count(runs_.begin(), runs_.end(), run) > 0;
  }

  validate::StepCheck asked_;
  std::vector<std::string> runs_;
};

/// The last residual at n = 129 is larger than the one before.
const char* const kGrowsAt129 = "[ $n -ne 129 ] || sed -i '$s/,.*/,9/' \"$dir/residuals.csv\"\n";

TEST_F(CheckCyclesTest, a_slow_program_is_right_and_gets_more_cycles) {
  const Verdict verdict = check(":\n");
  EXPECT_EQ(verdict.kind, Verdict::kRight) << verdict.summary;
  EXPECT_TRUE(was_run("probe, n = 129, 14 iterations"));
  EXPECT_TRUE(was_run("probe, n = 129, 20 iterations"));
}

TEST_F(CheckCyclesTest, a_residual_that_no_longer_falls_needs_no_more_cycles) {
  EXPECT_EQ(check(kGrowsAt129).summary, "wrong: probe, n = 129, 14 iterations");
  EXPECT_FALSE(was_run("probe, n = 129, 20 iterations"));
}

TEST_F(CheckCyclesTest, every_access_is_looked_at_once) {
  const std::string watched = temporary("watched.sh"), seen = temporary("seen");
  test::write_script(watched,
                     "echo \"$@\" >>'" + seen + "'\n'" + test::kSerialProgram + "' \"$@\"\n");
  asked_.at_hand.watched = watched;
  asked_.look_at = {33};
  EXPECT_EQ(check(kGrowsAt129).kind, Verdict::kWrong);
  const std::vector<std::string> looks = test::lines_of(test::read_file(seen));
  ASSERT_EQ(looks.size(), 1u);
  EXPECT_EQ(looks[0].rfind("--n 33 --iterations 2 ", 0), 0u) << looks[0];
}

TEST_F(CheckCyclesTest, what_a_look_finds_is_told_though_it_ends_the_check_of_gpu_and_cpu) {
  const std::string watched = temporary("watched.sh");
  test::write_script(watched, "sleep 1\n" + test::ends_with(test::report("race", 7)));
  asked_.at_hand.watched = watched;
  asked_.look_at = {33};
  asked_.at_hand.gpu = true;
  asked_.on_cpu = temporary("program.sh");
  const Verdict verdict = check("[ \"$iterations\" != 14 ] || exec sleep 60\n");
  EXPECT_EQ(verdict.summary, "wrong: probe, n = 33, 2 iterations");
}

}  // namespace
