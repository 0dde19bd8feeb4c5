// The verdict on programs that are right, wrong in many ways, or no programs at all. Most are the
// real serial step with a shell script around it that spoils what it recorded.

#include "judge/check_program.h"
#include "source/source_code.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "test_helpers.h"

namespace {

using lab::ProblemKind;
using validate::Case;
using validate::check_program;
using validate::Verdict;

constexpr int kProgramN = 34;
constexpr int kProgramIterations = 6;
const std::vector<Case> kProbe = {{ProblemKind::kProbe, kProgramN, kProgramIterations}};

/// The verdict as one text, for a look at its words.
std::string text_of(const Verdict& verdict) {
  std::string text = verdict.summary + "\n";
  for (const std::string& line : verdict.details) text += line + "\n";
  for (const std::string& line : verdict.remarks) text += line + "\n";
  return text;
}

::testing::AssertionResult says(const Verdict& verdict, const std::string& words) {
  const std::string text = text_of(verdict);
  if (text.find(words) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "no '" << words << "' in:\n" << text;
}

class CheckProgramTest : public test::SerialProgramTest {
 protected:
  /// The verdict on a shell script.
  Verdict check_script(const std::string& body, const std::vector<Case>& cases = kProbe,
                       double time_limit = 60) const {
    const std::string program = temporary("program.sh");
    test::write_script(program, body);
    return check_program(program, cases, time_limit, [](const std::string&) {});
  }

  /// The verdict on the serial step, the record of which `spoil` spoils. It finds $dir, $n,
  /// $iterations, $problem and $field (full or rows) set.
  Verdict check_spoiled(const std::string& spoil, const std::vector<Case>& cases = kProbe) const {
    return check_script("'" + test::kSerialProgram + "' \"$@\" || exit\n" + kReadOptions + spoil,
                        cases);
  }

  static constexpr const char* kReadOptions =
      "while [ $# -gt 0 ]; do\n"
      "  case $1 in\n"
      "    --n) n=$2 ;;\n"
      "    --iterations) iterations=$2 ;;\n"
      "    --problem) problem=$2 ;;\n"
      "    --record) dir=$2 ;;\n"
      "    --record-field) field=$2 ;;\n"
      "  esac\n"
      "  shift\n"
      "done\n";
  /// put_value I J BYTES: writes the four bytes of a float, in octal, at point (I, J).
  static constexpr const char* kPutValue =
      "put_value() {\n"
      "  printf \"$3\" | dd of=\"$dir/field.f32\" bs=1 seek=$((4 * ($2 * n + $1))) conv=notrunc "
      "2>/dev/null\n"
      "}\n"
      "one='\\000\\000\\200\\077' nan='\\000\\000\\300\\177'\n";
  /// change_residuals STATEMENT: changes the columns $1 and $2 of residuals.csv, in awk.
  static constexpr const char* kChangeResiduals =
      "change_residuals() {\n"
      "  awk -F, -v OFS=, -v CONVFMT=%.17g \"NR > 1 { $1 } { print }\" \"$dir/residuals.csv\" "
      ">\"$dir/new\"\n"
      "  mv \"$dir/new\" \"$dir/residuals.csv\"\n"
      "}\n";
};

TEST_F(CheckProgramTest, the_serial_step_is_right_on_all_problems) {
  const Verdict verdict = check_program(test::kSerialProgram,
                                        {{ProblemKind::kProbe, 34, 6},
                                         {ProblemKind::kLaplace, 63, 20},
                                         {ProblemKind::kHarmonic, 34, 5}},
                                        60, [](const std::string&) {});
  EXPECT_EQ(verdict.kind, Verdict::kRight) << text_of(verdict);
  EXPECT_TRUE(says(verdict, "right: 4 runs, n = 34, 63; fields bit for bit, residuals within"));
  EXPECT_TRUE(verdict.details.empty());
  EXPECT_TRUE(verdict.remarks.empty());
}

TEST_F(CheckProgramTest, a_wrapper_that_spoils_nothing_is_right) {
  EXPECT_EQ(check_spoiled(":").kind, Verdict::kRight);
}

TEST_F(CheckProgramTest, sizes_down_to_the_smallest_are_right) {
  const Verdict verdict = check_program(
      test::kSerialProgram,
      {{ProblemKind::kProbe, 3, 4}, {ProblemKind::kLaplace, 4, 4}, {ProblemKind::kHarmonic, 3, 4}},
      60, [](const std::string&) {});
  EXPECT_EQ(verdict.kind, Verdict::kRight) << text_of(verdict);
}

TEST_F(CheckProgramTest, each_run_is_announced) {
  std::vector<std::string> runs;
  check_program(test::kSerialProgram,
                {{ProblemKind::kProbe, 34, 6}, {ProblemKind::kLaplace, 10, 1}}, 60,
                [&](const std::string& run) { runs.push_back(run); });
  EXPECT_EQ(runs, (std::vector<std::string>{"probe, n = 34, 6 iterations",
                                            "laplace, n = 10, 1 iteration"}));
}

/// The serial step as one from 11 on, which takes --check-every; `spoil` finds $every set: 0 where
/// it is not given.
std::string step_with_checks(const std::string& spoil) {
  return "every=0 all=\n"
         "while [ $# -gt 0 ]; do\n"
         "  case $1 in\n"
         "    --check-every) every=$2; shift 2 ;;\n"
         "    --record) dir=$2; all=\"$all $1 $2\"; shift 2 ;;\n"
         "    *) all=\"$all $1\"; shift ;;\n"
         "  esac\n"
         "done\n'" +
         test::kSerialProgram +
         "' $all || exit\n"
         "sed -i 's/00_serial/11_checks/' \"$dir/run.json\"\n"
         "sed -i -e 1b -e '$!d' \"$dir/residuals.csv\"\n" +
         spoil;
}

TEST_F(CheckProgramTest, a_step_that_checks_now_and_then_is_tried_with_several_distances) {
  std::vector<std::string> runs;
  const std::string program = temporary("program.sh");
  test::write_script(program, step_with_checks(":"));
  const Verdict verdict =
      check_program(program, {{ProblemKind::kProbe, 100, 10}, {ProblemKind::kProbe, 34, 3}}, 60,
                    [&](const std::string& run) { runs.push_back(run); });
  EXPECT_EQ(verdict.kind, Verdict::kRight) << text_of(verdict);
  // As usual: iterations that no distance divides. Asked for otherwise: as asked for.
  EXPECT_EQ(runs,
            (std::vector<std::string>{
                "probe, n = 100, 10 iterations", "probe, n = 34, 3 iterations",
                "probe, n = 100, 37 iterations", "probe, n = 100, 37 iterations, --check-every 1",
                "probe, n = 100, 37 iterations, --check-every 7",
                "probe, n = 100, 37 iterations, --check-every 17",
                "probe, n = 34, 3 iterations, --check-every 1",
                "probe, n = 34, 3 iterations, --check-every 7"}));
}

TEST_F(CheckProgramTest,
       an_exercise_that_still_checks_every_sweep_is_not_asked_for_other_distances) {
  const Verdict verdict =
      check_script("'" + test::kSerialProgram + "' \"$@\" || exit\n" + kReadOptions +
                   "sed -i 's/00_serial/11_checks/' \"$dir/run.json\"\n");
  EXPECT_EQ(verdict.kind, Verdict::kRight) << text_of(verdict);
  EXPECT_TRUE(says(verdict, "right: 1 run,"));
  EXPECT_TRUE(says(verdict, "--check-every was not tried"));
}

TEST_F(CheckProgramTest, an_exercise_without_check_every_is_not_told_that_it_is_right_with_it) {
  const Verdict verdict =
      check_script("'" + test::kSerialProgram + "' \"$@\" || exit\n" + kReadOptions + kPutValue +
                   "sed -i 's/00_serial/11_checks/' \"$dir/run.json\"\nput_value 5 5 \"$one\"\n");
  EXPECT_EQ(verdict.kind, Verdict::kWrong);
  EXPECT_TRUE(says(verdict, "the field is wrong"));
  EXPECT_FALSE(says(verdict, "with --check-every 1"));
}

TEST_F(CheckProgramTest, what_is_wrong_only_with_several_sweeps_a_check_is_told_so) {
  const Verdict verdict = check_script(step_with_checks(
      "if [ $every = 7 ]; then sed -i '2,$s/,.*/,0.5/' \"$dir/residuals.csv\"; fi\n"));
  EXPECT_EQ(verdict.kind, Verdict::kWrong);
  EXPECT_TRUE(says(verdict, "wrong: probe, n = 34, 6 iterations, --check-every 7"));
  EXPECT_TRUE(says(verdict, "diagnosis: with --check-every 1 all is right"));
}

TEST_F(CheckProgramTest, a_wrong_residual_is_not_told_by_a_field_that_is_wrong_in_another_run) {
  const Verdict verdict = check_script(
      step_with_checks(
          "if [ $every = 1 ]; then\n"
          "  dd if=/dev/zero of=\"$dir/field.f32\" bs=400 count=1 conv=notrunc 2>/dev/null\n"
          "else\n"
          "  sed -i '2,$s/,.*/,0/' \"$dir/residuals.csv\"\n"
          "fi\n"),
      {{ProblemKind::kProbe, 100, 10}});
  EXPECT_TRUE(says(verdict, "wrong: probe, n = 100, 10 iterations\n"));
  EXPECT_TRUE(
      says(verdict, "the residual is 0: the host reads a place to which no sum was copied"));
}

TEST_F(CheckProgramTest, a_program_that_is_not_there_cannot_run) {
  const Verdict verdict =
      check_program(temporary("nothing"), kProbe, 60, [](const std::string&) {});
  EXPECT_EQ(verdict.kind, Verdict::kNoProgram);
  EXPECT_TRUE(says(verdict, "nothing: No such file or directory"));
}

TEST_F(CheckProgramTest, exit_code_77_is_no_gpu) {
  const Verdict verdict = check_script("echo 'no usable GPU: none' >&2; exit 77\n");
  EXPECT_EQ(verdict.kind, Verdict::kNoGpu);
  EXPECT_EQ(verdict.summary, "no usable GPU: none");
}

TEST_F(CheckProgramTest, what_the_machine_lacks_is_not_the_programs_mistake) {
  const auto cannot_run = [&](const std::string& body, const std::string& words) {
    const Verdict verdict = check_script(body);
    EXPECT_EQ(verdict.kind, Verdict::kCannotRunHere) << text_of(verdict);
    EXPECT_TRUE(says(verdict, words));
    EXPECT_TRUE(verdict.details.empty());
  };
  cannot_run("echo 'x: field.f32: No space left on device' >&2; exit 4\n", "no space is left in ");
  cannot_run("echo 'x: n = 34 needs 9 GB: the largest n that fits is 7' >&2; exit 5\n",
             "the largest n that fits is 7");
  cannot_run("kill -XCPU $$\n", "CPU time");
  cannot_run("kill -XFSZ $$\n", "ulimit -f");
  cannot_run("kill -KILL $$\n", "ended from outside (SIGKILL)");
}

TEST_F(CheckProgramTest, an_allocation_that_fails_is_the_programs_mistake) {
  const Verdict verdict = check_script(
      "echo 'x: jacobi.cu:9: cudaMalloc(&f, bytes): out of memory: take a smaller --n' >&2; "
      "exit 5\n");
  EXPECT_EQ(verdict.kind, Verdict::kWrong);
  EXPECT_TRUE(says(verdict, "exit code 5: jacobi.cu:9"));
}

/// The verdict on the serial step under another step's name, spoiled, with what `extent` adds.
class ExtentTest : public CheckProgramTest {
 protected:
  Verdict check_as(const std::string& step, const validate::Extent& extent,
                   const std::string& spoil) const {
    const std::string program = temporary("program.sh");
    test::write_script(program, "'" + test::kSerialProgram + "' \"$@\" || exit\n" + kReadOptions +
                                    kPutValue + "sed -i 's/00_serial/" + step +
                                    "/' \"$dir/run.json\"\n" + spoil);
    return check_program(
        program, kProbe, 60, [](const std::string&) {}, {}, extent);
  }
  static validate::Extent sizes(int own_n = 0) {
    validate::Extent extent;
    extent.sizes = true;
    extent.own_n = own_n;
    return extent;
  }
};

TEST_F(ExtentTest, a_mistake_at_multiples_of_a_block_is_found) {
  const std::string spoil = "[ $((n % 128)) -ne 0 ] || put_value 5 5 \"$one\"\n";
  EXPECT_EQ(check_as("04_jacobi_kernel", {}, spoil).kind, Verdict::kRight);
  EXPECT_TRUE(says(check_as("04_jacobi_kernel", sizes(), spoil), "wrong: probe, n = 256, "));
}

TEST_F(ExtentTest, a_mistake_beyond_2048_is_found_and_told_as_one_of_size) {
  const std::string spoil = "[ $n -le 2048 ] || put_value 5 5 \"$one\"\n";
  EXPECT_EQ(check_as("07_beyond_l2", {}, spoil).kind, Verdict::kRight);
  const Verdict verdict = check_as("07_beyond_l2", sizes(), spoil);
  EXPECT_TRUE(says(verdict, "wrong: probe, n = 3072, 1 iteration"));
  EXPECT_TRUE(says(verdict, "up to n = 1024 it is right, but at n = 3072 it is wrong"));
}

TEST_F(ExtentTest, a_mistake_at_its_own_n_is_found_by_hashes) {
  const std::string spoil =
      "[ $n -ne 4100 ] || if [ $field = rows ]; then sed -i '$s/,.*/,0000000000000000/' "
      "\"$dir/rows.csv\"; else put_value 5 5 \"$one\"; fi\n";
  EXPECT_TRUE(says(check_as("04_jacobi_kernel", sizes(4100), spoil),
                   "wrong: probe, n = 4100, 3 iterations"));
  EXPECT_TRUE(says(check_as("04_jacobi_kernel", sizes(4100), ":\n"),
                   "at n = 4100, its own: 3 sweeps, compared by a hash per row"));
}

TEST(CasesTest, a_look_at_every_access_takes_few_sweeps_with_a_residual_each) {
  const std::vector<Case> given = {{ProblemKind::kProbe, 250, 17}};
  std::map<int, int> watched, plain;  // sweeps of each --check-every
  for (const Case& run : validate::cases_of_checks(given, true))
    watched[run.check_every] = run.iterations;
  for (const Case& run : validate::cases_of_checks(given, false))
    plain[run.check_every] = run.iterations;
  EXPECT_EQ(watched, (std::map<int, int>{{1, 4}, {17, 17}}));
  EXPECT_EQ(plain, (std::map<int, int>{{1, 17}, {7, 17}, {17, 17}}));
}

TEST(CasesTest, a_gpu_gets_most_jobs_with_two_ranks_and_one_with_many) {
  std::map<int, int> jobs;
  for (const Case& run : validate::cases_for_gpu({1, 2, 3, 4})) ++jobs[run.ranks];
  EXPECT_EQ(jobs, (std::map<int, int>{{2, 4}, {4, 1}}));
  EXPECT_EQ(validate::cases_for_gpu({}).size(), 3u);  // of a program of one process
}

TEST_F(ExtentTest, the_grid_of_its_own_n_is_begun_with_the_first_others) {
  const std::string program = temporary("program.sh");
  // The others wait for it, up to 5 s.
  test::write_script(program,
                     "case $2 in 4096) : >\"$0.begun\";; 36) k=0\n"
                     "  until [ -e \"$0.begun\" ]; do [ $k -lt 50 ] || exit 1; k=$((k + 1)); "
                     "sleep 0.1; done;; esac\n'" +
                         std::string(test::kSerialProgram) + "' \"$@\"\n");
  std::vector<Case> cases(20, {ProblemKind::kProbe, 36, 1});
  cases[0].n = kProgramN;
  validate::Extent own;
  own.own_n = 4096;
  const Verdict verdict = check_program(
      program, cases, 60, [](const std::string&) {}, {}, own);
  EXPECT_EQ(verdict.kind, Verdict::kRight) << verdict.summary;
}

// A run on a large grid takes long, and so does each that then looks for the cause.
TEST_F(ExtentTest, small_grids_come_before_the_largest_in_reverse_order_too) {
  const std::string program = temporary("program.sh");
  test::write_script(program, step_with_checks(":"));
  validate::Extent extent = sizes();
  extent.every_order = true;
  std::vector<std::string> runs;
  check_program(
      program, {{ProblemKind::kProbe, 100, 10}, {ProblemKind::kProbe, 1043, 10}}, 60,
      [&](const std::string& run) { runs.push_back(run); }, {}, extent);
  const auto first_with = [&](const std::string& words) {
    return std::find_if(
               runs.begin(), runs.end(),
               [&](const std::string& run) { return run.find(words) != std::string::npos; }) -
           runs.begin();
  };
  EXPECT_LT(first_with("n = 521"), first_with("reverse order"));
  EXPECT_LT(first_with("reverse order"), first_with("n = 1043"));
  EXPECT_LT(first_with("n = 1043"), first_with("n = 3072"));
  EXPECT_LT(first_with("n = 3072"), first_with("shuffled order"));
  EXPECT_LT(first_with("shuffled order"), static_cast<std::ptrdiff_t>(runs.size()));
}

// Most races are seen in such runs alone, and learners make many.
TEST_F(ExtentTest, a_look_at_every_access_that_is_wrong_waits_for_no_large_grid) {
  const std::string program = temporary("program.sh");
  test::write_script(program, step_with_checks(":"));
  validate::Extent extent;
  std::vector<std::string> runs;
  const auto verdict_of = [&](Verdict::Kind look) {
    runs.clear();
    extent.look = [look] { return Verdict{look}; };
    return check_program(
        program, {{ProblemKind::kProbe, 100, 10}, {ProblemKind::kProbe, 1043, 10}}, 60,
        [&](const std::string& run) { runs.push_back(run); }, {}, extent);
  };
  const auto large = [](const std::string& run) { return run.find("n = 1043") < run.size(); };
  EXPECT_EQ(verdict_of(Verdict::kWrong).kind, Verdict::kWrong);
  EXPECT_TRUE(std::none_of(runs.begin(), runs.end(), large));
  const Verdict right = verdict_of(Verdict::kRight);
  EXPECT_EQ(right.kind, Verdict::kRight);
  EXPECT_TRUE(std::any_of(runs.begin(), runs.end(), large));
  EXPECT_TRUE(says(right, "No race, no access out of bounds"));
  EXPECT_FALSE(says(verdict_of(Verdict::kCannotRunHere), "No race"));
}

// A look at every access goes on beside the check that decides. Its questions took 45 seconds more.
TEST_F(ExtentTest, once_all_is_decided_no_question_is_asked) {
  const std::string program = temporary("program.sh"), asked = temporary("asked");
  test::write_script(program, "case \"$*\" in *question*) : >'" + asked +
                                  "'; exec sleep 1000;; esac\n'" + test::kSerialProgram +
                                  "' \"$@\" || exit\n" + kReadOptions + kPutValue +
                                  "put_value 5 5 \"$one\"\n");
  std::atomic<bool> decided = false;
  validate::Extent extent;
  extent.decided = &decided;
  auto verdict = std::async(std::launch::async, [&] {
    return check_program(
        program, kProbe, 500, [](const std::string&) {}, {}, extent);
  });
  while (!std::filesystem::exists(asked)) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  decided = true;
  EXPECT_EQ(verdict.wait_for(std::chrono::seconds(100)), std::future_status::ready);
}

// A race that loses an addition now and then may show first in the run to a tolerance.
TEST_F(ExtentTest, a_look_that_is_wrong_comes_before_where_it_stops) {
  const std::string program = temporary("program.sh");
  test::write_script(program, "case \"$*\" in *--tolerance*) exit 3;; esac\n'" +
                                  std::string(test::kSerialProgram) + "' \"$@\"\n");
  const auto stops_wrongly = [&](Verdict::Kind look) {
    validate::Extent extent;
    extent.look = [look] { return Verdict{look}; };
    const Verdict verdict = check_program(
        program, {{ProblemKind::kLaplace, 100, 20}}, 60, [](const std::string&) {}, {}, extent);
    EXPECT_EQ(verdict.kind, Verdict::kWrong);
    return says(verdict, "--tolerance");
  };
  EXPECT_TRUE(stops_wrongly(Verdict::kRight));
  EXPECT_FALSE(stops_wrongly(Verdict::kWrong));
}

TEST_F(ExtentTest, a_grid_of_its_own_n_that_does_not_fit_is_a_remark) {
  const std::string program = temporary("program.sh");
  test::write_script(program,
                     "case \"$*\" in *'--n 5000 '*) echo 'x: the largest n that fits is 7' >&2;"
                     " exit 5;; *'--n 5001 '*) echo 'x: cudaMalloc(&f, bytes): out of memory' >&2;"
                     " exit 5; esac\n'" +
                         std::string(test::kSerialProgram) + "' \"$@\"\n");
  const auto verdict_at = [&](int own_n) {
    return check_program(
        program, kProbe, 60, [](const std::string&) {}, {}, sizes(own_n));
  };
  const Verdict verdict = verdict_at(5000);
  EXPECT_EQ(verdict.kind, Verdict::kRight);
  EXPECT_TRUE(says(verdict, "n = 5000, its own, was not tried: the largest n that fits is 7"));
  // It asks for more than it needs.
  EXPECT_TRUE(says(verdict_at(5001), "wrong: probe, n = 5001, "));
}

TEST_F(ExtentTest, a_first_run_that_fails_is_not_left_out) {
  const std::string program = temporary("program.sh");
  test::write_script(program, "echo 'x: the largest n that fits is 7' >&2; exit 5\n");
  const Verdict verdict = check_program(
      program, kProbe, 60, [](const std::string&) {}, {}, sizes(kProgramN));
  EXPECT_EQ(verdict.kind, Verdict::kCannotRunHere) << text_of(verdict);
}

TEST_F(ExtentTest, every_order_of_threads_is_tried) {
  validate::Extent extent;
  extent.every_order = true;
  for (const std::string order : {"reverse", "shuffled"}) {
    const std::string spoil = "[ \"$LAB_CPU_ORDER\" != " + order + " ] || put_value 5 5 \"$one\"\n";
    EXPECT_EQ(check_as("04_jacobi_kernel", {}, spoil).kind, Verdict::kRight);
    const Verdict verdict = check_as("04_jacobi_kernel", extent, spoil);
    EXPECT_TRUE(
        says(verdict, "wrong: probe, n = 34, 6 iterations, threads in " + order + " order"));
    EXPECT_TRUE(says(verdict, "That is with the threads run in " + order +
                                  " order; in forward order it is right: a race?"));
  }
  EXPECT_TRUE(says(check_as("04_jacobi_kernel", extent, ":\n"),
                   "The same with blocks and threads in reverse and in shuffled order."));
}

TEST_F(CheckProgramTest, jobs_at_the_same_time_have_a_temporary_folder_each) {
  if (!test::exists(validate::launcher())) GTEST_SKIP() << "needs the launcher of jobs";
  const std::string program = temporary("program");
  test::write_script(program, "test -d \"$TMPDIR\" && echo \"$TMPDIR\" >>\"$0.seen\"; exit 3\n");
  setenv("LAB_MPIRUN", "env RANKS={ranks}", 1);
  Case job = {ProblemKind::kProbe, 100, 10};
  job.ranks = 2;
  for (const char* name : {"one", "other"}) {
    validate::run_program(program, job, temporary(name), 60);
    EXPECT_FALSE(test::exists(temporary(name) + "-job"));
  }
  unsetenv("LAB_MPIRUN");
  const std::vector<std::string> seen = test::lines_of(test::read_file(program + ".seen"));
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_NE(seen[0], seen[1]);
}

TEST_F(CheckProgramTest, runs_that_a_wrong_one_makes_unwanted_are_ended) {
  const std::string program = temporary("program.sh");
  test::write_script(program,
                     "case \"$*\" in\n"
                     "*'--n 35 '*) exit 9;;\n"
                     "*'--n 36 '*) sleep 1000;;\n"
                     "esac\n'" +
                         test::kSerialProgram + "' \"$@\"\n");
  const auto start = std::chrono::steady_clock::now();
  const Verdict verdict = check_program(
      program,
      {{ProblemKind::kProbe, 34, 6}, {ProblemKind::kProbe, 35, 6}, {ProblemKind::kProbe, 36, 6}},
      500, [](const std::string&) {});
  EXPECT_TRUE(says(verdict, "wrong: probe, n = 35"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(100));
}

TEST_F(CheckProgramTest, success_without_a_record_is_wrong) {
  const Verdict verdict = check_script("echo Success!; exit 0\n");
  EXPECT_EQ(verdict.kind, Verdict::kWrong);
  EXPECT_TRUE(says(verdict, "it ended with exit code 0 before Run wrote its record"));
  EXPECT_TRUE(says(verdict, "does main get to its end, where it calls run.finish?"));
  EXPECT_FALSE(says(verdict, "jacobi-validate"));  // the lab's own folder is nothing to look at
}

TEST_F(CheckProgramTest, an_error_exit_is_wrong_and_its_message_is_told) {
  const Verdict verdict =
      check_script("echo starting; echo 'x: an illegal memory access' >&2; exit 3\n");
  EXPECT_EQ(verdict.kind, Verdict::kWrong);
  EXPECT_TRUE(says(verdict, "wrong: probe, n = 34, 6 iterations"));
  EXPECT_TRUE(says(verdict, "exit code 3: an illegal memory access"));
  EXPECT_TRUE(says(check_script("exit 9\n"), "exit code 9, and said nothing"));
}

TEST_F(CheckProgramTest, a_program_that_hangs_is_wrong) {
  const Verdict verdict = check_script("sleep 1000\n", kProbe, 1);
  EXPECT_EQ(verdict.kind, Verdict::kWrong);
  EXPECT_TRUE(says(verdict, "it did not end within 1 s"));
}

TEST_F(CheckProgramTest, a_program_that_crashes_is_wrong) {
  const Verdict verdict = check_script("kill -SEGV $$\n");
  EXPECT_EQ(verdict.kind, Verdict::kWrong);
  EXPECT_TRUE(says(verdict, "it crashed: SIGSEGV"));
}

TEST_F(CheckProgramTest, a_truncated_field_is_wrong) {
  const Verdict verdict = check_spoiled(
      "head -c 4000 \"$dir/field.f32\" >\"$dir/new\"; mv \"$dir/new\" \"$dir/field.f32\"\n");
  EXPECT_EQ(verdict.kind, Verdict::kWrong);
  EXPECT_TRUE(says(verdict, "field.f32: holds 4000 bytes, 34 x 34 floats are 4624"));
}

TEST_F(CheckProgramTest, a_missing_field_is_wrong) {
  const Verdict verdict = check_spoiled("rm \"$dir/field.f32\"\n");
  EXPECT_EQ(verdict.kind, Verdict::kWrong);
  EXPECT_TRUE(says(verdict, "field.f32: No such file"));
}

TEST_F(CheckProgramTest, what_is_told_of_a_record_names_no_folder_of_the_labs) {
  const Verdict verdict = check_spoiled("sed -i '2p' \"$dir/residuals.csv\"\n");
  EXPECT_EQ(verdict.kind, Verdict::kWrong);
  EXPECT_TRUE(says(verdict, "residuals.csv: iteration 1 is recorded after iteration 1"));
  EXPECT_FALSE(says(verdict, "jacobi-validate"));
}

TEST_F(CheckProgramTest, garbage_in_run_json_is_wrong) {
  const Verdict verdict = check_spoiled("printf '\\001\\377{{\"n\": \"\"\"' >\"$dir/run.json\"\n");
  EXPECT_EQ(verdict.kind, Verdict::kWrong);
  EXPECT_TRUE(says(verdict, "run.json: not the record of a run"));
}

TEST_F(CheckProgramTest, a_record_of_another_n_is_wrong) {
  const Verdict verdict =
      check_script("n=$2; shift 2; exec '" + test::kSerialProgram + "' --n $((n + 1)) \"$@\"\n");
  EXPECT_EQ(verdict.kind, Verdict::kWrong);
  EXPECT_TRUE(says(verdict, "the record says n = 35, but n = 34 was asked for"));
}

TEST_F(CheckProgramTest, fewer_iterations_are_wrong) {
  const Verdict verdict = check_spoiled(
      "sed -i \"s/\\\"iterations\\\": $iterations/\\\"iterations\\\": $((iterations - 1))/\" "
      "\"$dir/run.json\"\n"
      "sed -i '$d' \"$dir/residuals.csv\"\n");
  EXPECT_EQ(verdict.kind, Verdict::kWrong);
  EXPECT_TRUE(says(verdict, "it stopped after 5 of 6 iterations"));
}

// A loop with <= in place of <: it must be told, and must not end the validator.
TEST_F(CheckProgramTest, one_iteration_too_many_is_wrong) {
  const Verdict verdict = check_script("n=$2 k=$4; shift 4; exec '" + test::kSerialProgram +
                                       "' --n $n --iterations $((k + 1)) \"$@\"\n");
  EXPECT_EQ(verdict.kind, Verdict::kWrong);
  EXPECT_TRUE(says(verdict, "7 iterations"));
}

TEST_F(CheckProgramTest, not_converged_after_all_iterations_is_wrong) {
  const Verdict verdict = check_spoiled("exit 1\n");
  EXPECT_EQ(verdict.kind, Verdict::kWrong);
  EXPECT_TRUE(says(verdict, "exit code 1"));
}

TEST_F(CheckProgramTest, one_wrong_value_is_found_with_its_place) {
  const Verdict verdict = check_spoiled(std::string(kPutValue) + "put_value 5 7 \"$one\"\n");
  EXPECT_EQ(verdict.kind, Verdict::kWrong);
  EXPECT_TRUE(says(verdict, "1 of 1156 points is wrong"));
  EXPECT_TRUE(says(verdict, "i = 5..5, j = 7..7 (the interior is 1..32)"));
  EXPECT_TRUE(says(verdict, "the field is wrong from iteration 1 on; after that one"));
  EXPECT_TRUE(says(verdict, "the residual is right"));
}

TEST_F(CheckProgramTest, the_first_wrong_iteration_is_found) {
  const Verdict verdict = check_spoiled(
      std::string(kPutValue) + "if [ $iterations -ge 4 ]; then put_value 5 7 \"$one\"; fi\n");
  EXPECT_EQ(verdict.kind, Verdict::kWrong);
  EXPECT_TRUE(says(verdict, "the field is wrong from iteration 4 on; after that one"));
}

TEST_F(CheckProgramTest, a_nan_in_the_field_is_wrong) {
  const Verdict verdict = check_spoiled(std::string(kPutValue) + "put_value 32 1 \"$nan\"\n");
  EXPECT_EQ(verdict.kind, Verdict::kWrong);
  EXPECT_TRUE(says(verdict, "i = 32..32, j = 1..1"));
  EXPECT_TRUE(says(verdict, "nan"));
}

TEST_F(CheckProgramTest, a_value_off_by_its_last_bit_is_right_with_a_remark) {
  const Verdict verdict = check_spoiled(
      "at=$((4 * (7 * n + 5)))\n"
      "byte=$(od -An -tu1 -j $at -N 1 \"$dir/field.f32\")\n"
      "printf \"\\\\$(printf %03o $((byte ^ 1)))\" |\n"
      "  dd of=\"$dir/field.f32\" bs=1 seek=$at conv=notrunc 2>/dev/null\n");
  EXPECT_EQ(verdict.kind, Verdict::kRight) << text_of(verdict);
  EXPECT_TRUE(says(verdict, "fields within rounding"));
  EXPECT_TRUE(says(verdict, "different rounding"));
}

TEST_F(CheckProgramTest, last_bits_that_change_from_run_to_run_are_a_race) {
  const Verdict verdict = check_spoiled(
      "count=$(cat \"$0.count\" 2>/dev/null || echo 0)\n"
      "echo $((count + 1)) >\"$0.count\"\n"
      "at=$((4 * (7 * n + 5)))\n"
      "byte=$(od -An -tu1 -j $at -N 1 \"$dir/field.f32\")\n"
      "printf \"\\\\$(printf %03o $((byte ^ (1 - count % 2))))\" |\n"
      "  dd of=\"$dir/field.f32\" bs=1 seek=$at conv=notrunc 2>/dev/null\n");
  EXPECT_EQ(verdict.kind, Verdict::kWrong) << text_of(verdict);
  EXPECT_TRUE(says(verdict, "two runs of it give different fields: a race"));
}

TEST_F(CheckProgramTest, a_wrong_field_that_is_always_the_same_is_no_race) {
  const Verdict verdict = check_spoiled(std::string(kPutValue) + "put_value 5 7 \"$one\"\n");
  EXPECT_EQ(verdict.kind, Verdict::kWrong);
  EXPECT_EQ(text_of(verdict).find("race"), std::string::npos) << text_of(verdict);
}

TEST_F(CheckProgramTest, a_wrong_residual_is_told_with_its_iteration_and_factor) {
  const Verdict verdict = check_spoiled(std::string(kChangeResiduals) +
                                        "change_residuals '$2 = ($1 < 3 ? 1 : 2) * $2'\n");
  EXPECT_EQ(verdict.kind, Verdict::kWrong);
  EXPECT_TRUE(says(verdict, "the field is right"));
  EXPECT_TRUE(says(verdict, "the residual is wrong from iteration 3 on"));
  EXPECT_TRUE(says(verdict, "2 times the correct one"));
}

TEST_F(CheckProgramTest, a_residual_that_is_not_a_number_is_wrong) {
  const Verdict verdict = check_spoiled("sed -i 's/^4,.*/4,nan/' \"$dir/residuals.csv\"\n");
  EXPECT_EQ(verdict.kind, Verdict::kWrong);
  EXPECT_TRUE(says(verdict, "the residual is wrong from iteration 4 on"));
}

TEST_F(CheckProgramTest, a_residual_that_is_not_zero_on_the_harmonic_problem_is_wrong) {
  const Verdict verdict = check_spoiled("sed -i 's/^2,.*/2,1e-7/' \"$dir/residuals.csv\"\n",
                                        {{ProblemKind::kHarmonic, kProgramN, 3}});
  EXPECT_EQ(verdict.kind, Verdict::kWrong);
  EXPECT_TRUE(says(verdict, "the residual is wrong from iteration 2 on"));
}

TEST_F(CheckProgramTest, a_residual_that_is_nearly_right_is_not_1_times_the_right_one) {
  const Verdict verdict =
      check_spoiled(std::string(kChangeResiduals) +
                    "change_residuals '$2 = sprintf(\"%.17g\", $2 * 1.000003)'\n");
  EXPECT_EQ(verdict.kind, Verdict::kWrong) << text_of(verdict);
  EXPECT_TRUE(says(verdict, "that is off by 3e-06 of the correct one"));
}

TEST_F(CheckProgramTest, residuals_in_single_precision_are_right_with_a_remark) {
  const Verdict verdict = check_spoiled(std::string(kChangeResiduals) +
                                        "change_residuals '$2 = sprintf(\"%.8g\", $2)'\n");
  EXPECT_EQ(verdict.kind, Verdict::kRight) << text_of(verdict);
  EXPECT_TRUE(says(verdict, "residuals within 1e-6"));
  EXPECT_TRUE(
      says(verdict, "residual within 1e-6: its sum is of floats in part (single precision)"));
}

TEST_F(CheckProgramTest, it_stops_at_the_first_wrong_case) {
  const std::string program = temporary("program.sh");
  test::write_script(program, "exit 3\n");
  int runs = 0;
  check_program(program, {{ProblemKind::kProbe, 34, 6}, {ProblemKind::kLaplace, 34, 6}}, 60,
                [&](const std::string&) { ++runs; });
  EXPECT_EQ(runs, 1);
}

TEST_F(CheckProgramTest, a_look_at_every_access_joins_the_diagnosis) {
  const std::string program = temporary("program.sh"), watched = temporary("watched.sh");
  // The last column of the boundary is not a number: nothing fits that.
  test::write_script(program, "'" + std::string(test::kSerialProgram) + "' \"$@\" || exit\n" +
                                  kReadOptions + kPutValue + "put_value 3 0 \"$nan\"\n");
  test::write_script(watched,
                     "echo \"$@\" >\"$0.seen\"\n" + test::ends_with(test::report("refused", 84)));
  validate::AtHand at_hand;
  at_hand.watched = watched;
  const Verdict verdict = check_program(
      program, kProbe, 60, [](const std::string&) {}, at_hand);
  EXPECT_EQ(verdict.kind, Verdict::kWrong);
  EXPECT_TRUE(says(verdict, "diagnosis: the launch at line 84 was refused"));
  EXPECT_TRUE(says(verdict, "A look at every access finds:\n  jacobi.cu:84: no words"));
  EXPECT_NE(test::read_file(temporary("watched.sh.seen")).find("--n 100 --iterations 3"),
            std::string::npos);
  // What is right is not looked at.
  std::filesystem::remove(temporary("watched.sh.seen"));
  EXPECT_EQ(check_program(
                test::kSerialProgram, kProbe, 60, [](const std::string&) {}, at_hand)
                .kind,
            Verdict::kRight);
  EXPECT_FALSE(std::filesystem::exists(temporary("watched.sh.seen")));
}

TEST_F(CheckProgramTest, a_look_at_every_access_tells_why_a_run_failed) {
  const std::string kLooking = "looking for the cause";
  int looks = 0;
  const std::string watched = temporary("watched.sh");
  validate::AtHand at_hand;
  at_hand.watched = watched;
  auto check = [&](const std::string& script) {
    const std::string program = temporary("program.sh");
    test::write_script(program, script);
    return check_program(
        program, kProbe, 60, [&](const std::string& what) { looks += what == kLooking; }, at_hand);
  };
  const cuda_on_cpu::Report host_reads =
      test::report("host_access", 41, "access=reads|place=inside|bytes=40000|allocated_line=35");
  test::write_script(watched, test::ends_with(host_reads));
  const Verdict crash = check("kill -SEGV $$\n");
  EXPECT_TRUE(says(crash, "it crashed: SIGSEGV"));
  const std::string found = "A look at every access finds:\n  jacobi.cu:41: no words";
  EXPECT_TRUE(says(crash, found));
  EXPECT_TRUE(
      says(check(test::ends_with(test::report(
               "call", 90, "array=cudaDeviceSynchronize()|flags=call cudaErrorIllegalAddress"))),
           found));
  // Where the program itself names the access, there is nothing more to find.
  EXPECT_TRUE(says(check(test::ends_with(host_reads)), "exit code 3: jacobi.cu:41"));
  EXPECT_EQ(looks, 2);
}

// A GPU goes on where the CPU in its place ends the program: then the field, or the residual, looks
// like something else.
TEST_F(CheckProgramTest, what_no_program_may_do_comes_before_how_the_result_looks) {
  const std::string program = temporary("program.sh"), watched = temporary("watched.sh");
  test::write_script(program, "'" + std::string(test::kSerialProgram) + "' \"$@\" || exit\n" +
                                  kReadOptions + kChangeResiduals + "change_residuals '$2 *= 2'\n");
  validate::AtHand at_hand;
  at_hand.watched = watched;
  auto check = [&](const cuda_on_cpu::Report& report) {
    test::write_script(watched, test::ends_with(report));
    return check_program(
        program, kProbe, 60, [](const std::string&) {}, at_hand);
  };
  EXPECT_TRUE(
      says(check(test::report("host_early", 87,
                              "access=reads|place=inside|bytes=8|allocated_line=39|other_line=85")),
           "diagnosis: at line 87 the host reads"));
  EXPECT_TRUE(says(check(test::report("shuffle", 79)),
                   "diagnosis: not all threads of the warp reach the shuffle at line 79"));
  EXPECT_TRUE(says(check(test::report("unwritten", 90,
                                      "access=changes atomically|flags=shared|array=block_sum")),
                   "diagnosis: line 90 adds to block_sum, but no thread has set it to 0"));
  // What may do no harm on a GPU does not.
  EXPECT_FALSE(says(check(test::report("unwritten", 95, "access=changes atomically")),
                    "diagnosis: line 95 adds to memory that nothing has written"));
}

TEST_F(CheckProgramTest, what_computes_for_far_too_long_is_not_waited_for) {
  // In a later run, by what the largest one so far took.
  const std::string program = temporary("program.sh"), endless = temporary("endless.sh");
  test::write_script(program, "case \"$*\" in *'--n 36 '*) while :; do :; done;; esac\n'" +
                                  std::string(test::kSerialProgram) + "' \"$@\"\n");
  Verdict verdict =
      check_program(program, {{ProblemKind::kProbe, 34, 6}, {ProblemKind::kProbe, 36, 6}}, 3000,
                    [](const std::string&) {});
  EXPECT_TRUE(says(verdict, "wrong: probe, n = 36"));
  EXPECT_TRUE(says(verdict, "it did not end within "));
  // In the first one, if a look at it takes as long.
  test::write_script(endless, "while :; do :; done\n");
  validate::AtHand at_hand;
  at_hand.watched = endless;
  verdict = check_program(
      endless, kProbe, 3000, [](const std::string&) {}, at_hand);
  EXPECT_TRUE(says(verdict, "it did not end within "));
}

TEST_F(CheckProgramTest, what_is_slow_but_ends_is_waited_for) {
  const std::string turns = "turns() { k=0; while [ $k -lt $1 ]; do k=$((k + 1)); done; }\n";
  const std::string program = temporary("program.sh"), watched = temporary("watched.sh");
  test::write_script(
      program, turns + "case \"$*\" in *'--n 40 '*) turns 200000;; *) turns 2000000;; esac\n'" +
                   std::string(test::kSerialProgram) + "' \"$@\"\n");
  test::write_script(watched, "while :; do :; done\n");
  validate::AtHand at_hand;
  at_hand.watched = watched;
  const Verdict verdict = check_program(
      program, {{ProblemKind::kProbe, 100, 10}}, 3000, [](const std::string&) {}, at_hand);
  EXPECT_EQ(verdict.kind, Verdict::kRight) << verdict.summary;
}

// A GPU's start takes CPU time, the more the more GPUs a machine has.
TEST_F(CheckProgramTest, the_start_of_a_gpu_is_no_endless_loop) {
  const std::string program = temporary("program.sh"), watched = temporary("watched.sh");
  test::write_script(program, "k=0; while [ $k -lt 2000000 ]; do k=$((k + 1)); done\n'" +
                                  std::string(test::kSerialProgram) + "' \"$@\"\n");
  test::write_script(watched, "while :; do :; done\n");
  validate::AtHand at_hand;
  at_hand.watched = watched;
  at_hand.gpu = true;
  const Verdict verdict = check_program(
      program, {{ProblemKind::kProbe, 100, 10}}, 60, [](const std::string&) {}, at_hand);
  EXPECT_EQ(verdict.kind, Verdict::kRight) << verdict.summary;
}

TEST_F(CheckProgramTest, a_look_that_takes_too_long_tells_of_no_endless_loop) {
  const std::string program = temporary("program.sh"), watched = temporary("watched.sh");
  test::write_script(program, "'" + std::string(test::kSerialProgram) + "' \"$@\" || exit\n" +
                                  kReadOptions + kChangeResiduals + "change_residuals '$2 *= 2'\n");
  test::write_script(watched, "say() {\n" + test::ends_with(test::report("endless_kernel", 72)) +
                                  "}\ntrap say USR1\nsleep 30 & wait\n");
  validate::AtHand at_hand;
  at_hand.watched = watched;
  const Verdict verdict = check_program(
      program, kProbe, 1, [](const std::string&) {}, at_hand);
  EXPECT_TRUE(says(verdict, "the field is right"));
  EXPECT_FALSE(says(verdict, "never ends"));
  EXPECT_FALSE(says(verdict, "still runs here"));
}

TEST_F(CheckProgramTest, where_a_small_grid_shows_nothing_the_run_s_own_is_looked_at) {
  const std::string watched = temporary("watched.sh"), program = temporary("program.sh");
  test::write_script(program,
                     test::ends_with(test::report(
                         "call", 90, "array=cudaGetLastError()|flags=call cudaErrorInvalidValue")));
  test::write_script(
      watched,
      "echo \"$2${LAB_CPU_STRICT:+ strict}\" >>\"$0.seen\"\n"
      "[ \"$2\" = 1043 ] || exec '" +
          std::string(test::kSerialProgram) + "' \"$@\"\n" +
          test::ends_with(test::report(
              "call", 90,
              "array=cudaGetLastError()|flags=call cudaErrorInvalidConfiguration|"
              "detail=a block of 33 x 33 x 1 = 1089 threads, but at most 1024 are allowed")));
  validate::AtHand at_hand;
  at_hand.watched = watched;
  const Verdict verdict = check_program(
      program, {{ProblemKind::kProbe, 1043, 3}}, 60, [](const std::string&) {}, at_hand);
  EXPECT_TRUE(
      says(verdict, "diagnosis: the launch before line 90 was refused: a block of 33 x 33"));
  // Each is looked at twice, side by side: also for what may do no harm.
  const auto looked_at = [&watched](const std::string& run) {
    const std::string seen = "\n" + test::read_file(watched + ".seen");
    return seen.find("\n" + run + "\n") != std::string::npos;
  };
  EXPECT_TRUE(looked_at("250") && looked_at("250 strict") && looked_at("1043"));
  // A large one would take too long, and too much memory.
  std::filesystem::remove(temporary("watched.sh.seen"));
  check_program(
      program, {{ProblemKind::kProbe, 4096, 3}}, 60, [](const std::string&) {}, at_hand);
  EXPECT_TRUE(looked_at("250") && looked_at("250 strict"));
  EXPECT_FALSE(looked_at("4096") || looked_at("4096 strict"));
  // Where nobody can look, the GPU's words are all there is.
  EXPECT_TRUE(says(check_program(program, kProbe, 60, [](const std::string&) {}),
                   "diagnosis: the launch before line 90 was refused, or an earlier call failed"));
}

TEST_F(CheckProgramTest, what_a_gpu_takes_without_a_word_is_not_why_a_call_failed) {
  const std::string watched = temporary("watched.sh"), program = temporary("program.sh");
  test::write_script(
      program, test::ends_with(test::report(
                   "call", 126,
                   "array=cudaMemset(&sum, 0, sizeof(double))|flags=call cudaErrorInvalidValue")));
  test::write_script(watched,
                     test::ends_with(test::report("unwritten", 112, "access=changes atomically")));
  validate::AtHand at_hand;
  at_hand.watched = watched;
  EXPECT_TRUE(says(check_program(
                       program, kProbe, 60, [](const std::string&) {}, at_hand),
                   "diagnosis: at line 126 cudaMemset gets &sum, the address of a variable"));
}

// From n = 4096 on the record holds row hashes, and the field is written only where they differ.
class HashedRecordTest : public CheckProgramTest {
 protected:
  static constexpr int kLarge = 4096;
  const std::vector<Case> cases_ = {{ProblemKind::kProbe, kLarge, 1}};
};

TEST_F(HashedRecordTest, right_rows_are_right_without_the_field) {
  const Verdict verdict = check_spoiled(
      "[ $field = rows ] || { echo 'the field was asked for' >&2; exit 9; }\n", cases_);
  EXPECT_EQ(verdict.kind, Verdict::kRight) << text_of(verdict);
}

TEST_F(HashedRecordTest, a_wrong_row_is_looked_at_in_the_field) {
  const Verdict verdict =
      check_spoiled(std::string(kPutValue) +
                        "if [ $field = full ]; then put_value 5 4000 \"$one\"\n"
                        "else sed -i 's/^4000,.*/4000,0123456789abcdef/' \"$dir/rows.csv\"; fi\n",
                    cases_);
  EXPECT_EQ(verdict.kind, Verdict::kWrong);
  EXPECT_TRUE(says(verdict, "i = 5..5, j = 4000..4000"));
}

TEST_F(HashedRecordTest, a_wrong_row_is_wrong_where_no_field_can_be_recorded) {
  const Verdict verdict = check_spoiled(
      "if [ $field = full ]; then echo 'x: field.f32: No space left on device' >&2; exit 4\n"
      "else sed -i 's/^4000,.*/4000,0123456789abcdef/' \"$dir/rows.csv\"; fi\n",
      cases_);
  EXPECT_EQ(verdict.kind, Verdict::kWrong) << text_of(verdict);
  EXPECT_TRUE(says(verdict, "which points cannot be said: no space is left in "));
}

class TemporaryFolderTest : public CheckProgramTest {
 protected:
  void SetUp() override {
    CheckProgramTest::SetUp();
    const char* before = std::getenv("TMPDIR");
    had_one_ = before != nullptr;
    if (had_one_) before_ = before;
    std::filesystem::create_directory(temporary("tmp"));
    setenv("TMPDIR", temporary("tmp").c_str(), 1);
  }
  void TearDown() override { had_one_ ? setenv("TMPDIR", before_.c_str(), 1) : unsetenv("TMPDIR"); }

 private:
  bool had_one_ = false;
  std::string before_;
};

TEST_F(TemporaryFolderTest, is_gone_after_a_check_right_or_wrong) {
  EXPECT_EQ(check_spoiled("ls \"$TMPDIR\" >\"$0.seen\"\n").kind, Verdict::kRight);
  EXPECT_EQ(test::lines_of(test::read_file(temporary("program.sh.seen"))).size(), 1u)
      << "the record was not written there";
  EXPECT_TRUE(test::names_in(temporary("tmp")).empty());
  EXPECT_EQ(check_spoiled(std::string(kPutValue) + "put_value 5 7 \"$one\"\n").kind,
            Verdict::kWrong);
  EXPECT_TRUE(test::names_in(temporary("tmp")).empty());
}

TEST_F(TemporaryFolderTest, that_cannot_be_made_is_an_error_that_says_what_to_do) {
  setenv("TMPDIR", "/nowhere", 1);
  try {
    const validate::TemporaryFolder folder;
    FAIL() << "no error";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("set TMPDIR"), std::string::npos) << error.what();
  }
}

TEST(UsualCasesTest, have_whole_passes_of_16_sweeps) {
  std::vector<Case> cases = validate::usual_cases();
  validate::lengthen_passes(11, &cases);
  EXPECT_EQ(cases[0].iterations, 10) << "step 11 has no passes";
  cases.push_back({ProblemKind::kProbe, 3072, 1});
  cases.push_back({ProblemKind::kProbe, 100, 37});
  validate::lengthen_passes(13, &cases);
  EXPECT_EQ(cases[1].iterations, 37) << "the cases at the n that shows most come first";
  for (const Case& run : cases) {
    if (run.problem != ProblemKind::kProbe) continue;
    EXPECT_EQ(run.iterations >= 17, run.n < 1043) << "n = " << run.n;
  }
  const std::vector<Case> on_gpu = validate::cases_for_gpu({});
  EXPECT_EQ(on_gpu.back().n, 1043);
  EXPECT_EQ(on_gpu.back().iterations, 17) << "there this is the only large grid with a whole pass";
}

TEST(UsualCasesTest, have_a_grid_beyond_fixed_sizes_from_the_first_large_step_on) {
  for (const int step : {-1, 2, 3, 8}) {
    std::vector<Case> cases = validate::usual_cases();
    validate::add_sizes(step, true, 0, 0, &cases);
    EXPECT_EQ(cases.back().n, step == 2 ? 1024 : 3072) << "step " << step;
  }
}

TEST(UsualCasesTest, are_the_three_problems_at_sizes_that_no_block_divides) {
  const std::vector<Case> cases = validate::usual_cases();
  for (ProblemKind problem : {ProblemKind::kProbe, ProblemKind::kLaplace, ProblemKind::kHarmonic}) {
    EXPECT_EQ(std::count_if(cases.begin(), cases.end(),
                            [&](const Case& run) { return run.problem == problem; }),
              problem == ProblemKind::kProbe ? 6 : 2);
  }
  EXPECT_EQ(cases.back().n, 1043) << "a race shows more often where not all blocks run at once";
  for (const Case& run : cases) {
    EXPECT_NE(run.n % 32, 0);
    EXPECT_GE(run.iterations, 2) << "a missing swap shows in the second iteration";
  }
  EXPECT_EQ(cases[0].problem, ProblemKind::kProbe) << "it shows nearly every mistake at once";
  EXPECT_TRUE(std::any_of(cases.begin(), cases.end(), [](const Case& run) {
    return run.problem == ProblemKind::kProbe && run.iterations % 2 == 1;
  })) << "of two fields the wrong one may be right after an even number of sweeps";
}

/// The program `validate`: what the verdicts are to a shell.
class ValidateTest : public test::SerialProgramTest {
 protected:
  static test::Ended validate(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), LAB_VALIDATE);
    return test::run_program(arguments);
  }
  std::string script(const std::string& body) const {
    test::write_script(temporary("program.sh"), body);
    return temporary("program.sh");
  }
};

/// With --gpu and --on-cpu: scripts around the serial step stand for both programs.
class OnBothTest : public ValidateTest {
 protected:
  test::Ended check(const std::string& gpu_does, const std::string& cpu_does,
                    const std::string& seconds = "60",
                    const std::vector<std::string>& more = {}) const {
    const auto write = [&](const char* name, const std::string& what) {
      test::write_script(temporary(name), what + "\n'" + test::kSerialProgram + "' \"$@\"\n");
      return temporary(name);
    };
    const std::string gpu = write("gpu.sh", gpu_does), cpu = write("cpu.sh", cpu_does);
    std::vector<std::string> all = {"--name", "mine", "--time-limit", seconds, "--gpu", "--on-cpu",
                                    cpu,      gpu};
    all.insert(all.begin(), more.begin(), more.end());
    return validate(all);
  }
};

TEST_F(OnBothTest, right_on_both_is_right_and_the_gpu_is_asked_less) {
  const test::Ended ended = check(":", ":");
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.out.rfind("mine: right: 5 runs, n = 64, 100, 250, 1043; ", 0), 0u) << ended.out;
  EXPECT_NE(
      ended.out.find("\n  The CPU, run instead of the GPU, agrees: 24 runs, n = 33, 100, 129, "),
      std::string::npos)
      << ended.out;
}

TEST_F(OnBothTest, wrong_on_the_cpu_alone_is_luck) {
  const test::Ended ended = check(":", "exit 9");
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_NE(ended.out.find("exit code 9"), std::string::npos) << ended.out;
  EXPECT_NE(ended.out.find("The GPU was right by luck"), std::string::npos) << ended.out;
}

TEST_F(OnBothTest, too_slow_on_the_cpu_alone_is_right) {
  const test::Ended ended = check(":", "sleep 60", "6");
  EXPECT_EQ(ended.exit_code, 0) << ended.out;
}

TEST_F(OnBothTest, wrong_on_the_gpu_alone_is_told_as_the_gpu_has_it) {
  const test::Ended ended = check("case \"$*\" in *'--n 1043 '*) exit 8;; esac", ":");
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_EQ(ended.out.rfind("mine: wrong: probe, n = 1043, 17 iterations\n", 0), 0u) << ended.out;
  EXPECT_NE(ended.out.find("exit code 8"), std::string::npos) << ended.out;
}

TEST_F(OnBothTest, wrong_on_both_is_explained_by_the_cpu) {
  const test::Ended ended = check("exit 8", "exit 9");
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_NE(ended.out.find("exit code 9"), std::string::npos) << ended.out;
  EXPECT_EQ(ended.out.find("luck"), std::string::npos) << ended.out;
}

TEST_F(OnBothTest, a_gpu_that_never_ends_is_not_waited_for_if_the_cpu_knows_why) {
  const auto start = std::chrono::steady_clock::now();
  const test::Ended ended = check("case \"$*\" in *--record*) sleep 60;; esac", "exit 9");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(40));
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_NE(ended.out.find("exit code 9"), std::string::npos) << ended.out;
}

// However far it is.
TEST_F(OnBothTest, nothing_is_waited_for_that_the_verdict_does_not_need) {
  const auto seconds_of = [&](const std::string& gpu_does, const std::string& cpu_does,
                              const std::vector<std::string>& more, int exit_code) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(check(gpu_does, cpu_does, "60", more).exit_code, exit_code);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const std::string at_250 = "case \"$*\" in *'--n 250 '*) ";
  EXPECT_LT(seconds_of(at_250 + "sleep 60;; esac", at_250 + "exit 9;; esac", {}, 1), 40);
  // A look at a program that is wrong; and programs whose file the compiler refuses.
  test::write_script(temporary("watched.sh"), "sleep 60\n");
  EXPECT_LT(
      seconds_of("exit 8", "exit 9", {"--watched", temporary("watched.sh"), "--look-at", "34"}, 1),
      40);
  test::write_file(temporary("built"), "1\n");
  const std::string sleeps = "case \"$*\" in *--record*) sleep 60;; esac";
  EXPECT_LT(seconds_of(":", sleeps, {"--built", temporary("built")}, 2), 40);
}

TEST_F(OnBothTest, what_the_cpu_cannot_run_the_gpu_is_asked_in_full) {
  const test::Ended ended = check(":", "exit 77");
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.out.rfind("mine: right: 14 runs, n = 33, 64, 100, 129, ", 0), 0u) << ended.out;
  EXPECT_EQ(check("exit 77", ":").exit_code, 77);
}

TEST_F(ValidateTest, right_is_exit_code_0) {
  const test::Ended ended = validate({"--n", "34,63", "--name", "mine", test::kSerialProgram});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.out.rfind("mine: right: 7 runs, n = 34, 63;", 0), 0u) << ended.out;
  EXPECT_EQ(ended.err, "");
}

TEST_F(ValidateTest, wrong_is_exit_code_1) {
  const test::Ended ended = validate({"--n", "34", script("exit 3\n")});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_NE(ended.out.find("program.sh: wrong: probe"), std::string::npos) << ended.out;
}

// What scripts read in place of the words.
TEST_F(ValidateTest, the_verdict_is_written_to_a_file) {
  test::write_file(temporary("exercise.cpp"), "int a;\n");
  const auto verdict = [&](std::vector<std::string> arguments) {
    std::filesystem::remove(temporary("verdict"));
    arguments.insert(arguments.begin(), {"--n", "34", "--verdict", temporary("verdict")});
    validate(arguments);
    std::string text;
    validate::read_text(temporary("verdict"), &text);
    return text;
  };
  EXPECT_EQ(verdict({test::kSerialProgram}), "right\n");
  EXPECT_EQ(verdict({script("exit 3\n")}), "wrong\n");
  EXPECT_EQ(verdict({script("echo no usable GPU; exit 77\n")}), "");
  EXPECT_EQ(verdict({"--exercise", temporary("exercise.cpp"), "--before", temporary("exercise.cpp"),
                     test::kSerialProgram}),
            "unchanged\n");
}

TEST_F(ValidateTest, one_iteration_too_many_is_exit_code_1) {
  const test::Ended ended = validate({"--n", "34",
                                      script("n=$2 k=$4; shift 4; exec '" + test::kSerialProgram +
                                             "' --n $n --iterations $((k + 1)) \"$@\"\n")});
  EXPECT_EQ(ended.exit_code, 1) << ended.err;
}

TEST_F(ValidateTest, no_gpu_is_exit_code_77) {
  const test::Ended ended = validate({script("echo no usable GPU; exit 77\n")});
  EXPECT_EQ(ended.exit_code, 77);
  EXPECT_NE(ended.out.find("no usable GPU"), std::string::npos) << ended.out;
}

TEST_F(ValidateTest, bad_usage_is_exit_code_2_and_one_line) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{},
                                             {"--n"},
                                             {"--n", "2", "program"},
                                             {"--n", "", "program"},
                                             {"--n", "64,", "--n", "x", "program"},
                                             {"--problem", "poisson", "program"},
                                             {"--iterations", "0", "program"},
                                             {"--time-limit", "0", "program"},
                                             {"--frobnicate", "program"},
                                             {"one", "two"},
                                             {"--problem", "harmonic", "--n", "4097", "program"},
                                             {"/nowhere/no-such-program"}}) {
    const test::Ended ended = validate(arguments);
    EXPECT_EQ(ended.exit_code, 2) << ::testing::PrintToString(arguments);
    EXPECT_EQ(ended.err.rfind("validate: ", 0), 0u) << ended.err;
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
    EXPECT_EQ(ended.out, "");
  }
}

TEST_F(ValidateTest, an_exercise_that_differs_in_comments_only_is_unchanged) {
  test::write_file(temporary("before.cpp"), "int a;  // one\n");
  test::write_file(temporary("exercise.cpp"), "// TODO(04): think\nint a; /* two */\n");
  const std::vector<std::string> arguments = {"--n",
                                              "34",
                                              "--exercise",
                                              temporary("exercise.cpp"),
                                              "--before",
                                              temporary("before.cpp"),
                                              "--name",
                                              "04_jacobi_kernel",
                                              test::kSerialProgram};
  const test::Ended unchanged = validate(arguments);
  EXPECT_EQ(unchanged.exit_code, 1);
  EXPECT_NE(unchanged.out.find("04_jacobi_kernel: unchanged"), std::string::npos) << unchanged.out;
  EXPECT_NE(unchanged.out.find("TODO(04)"), std::string::npos) << unchanged.out;
  test::write_file(temporary("exercise.cpp"), "int b;\n");
  const test::Ended changed = validate(arguments);
  EXPECT_EQ(changed.exit_code, 0);
  EXPECT_NE(changed.out.find("04_jacobi_kernel: right"), std::string::npos) << changed.out;
}

}  // namespace
