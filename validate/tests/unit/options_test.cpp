// Bad command lines end the program, so they are tried on a real step's program.

#include <lab/options.h>

#include <algorithm>
#include <cstdlib>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test_helpers.h"

namespace {

using test::Ended;
using test::kSerialProgram;
using test::run_program;

Ended run_serial(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), kSerialProgram);
  return run_program(arguments);
}

/// Whether a program said exactly one line on stderr, `00_serial: ...`, with `word` in it.
::testing::AssertionResult says_one_line(const Ended& ended, const std::string& word) {
  const std::string& err = ended.err;
  const bool one_line = std::count(err.begin(), err.end(), '\n') == 1 && err.back() == '\n';
  if (one_line && err.rfind("00_serial: ", 0) == 0 && err.find(word) != std::string::npos) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure()
         << "expected one line '00_serial: ... " << word << " ...', found '" << err << "'";
}

struct BadLine {
  std::vector<std::string> arguments;
  std::string word;  // of the message
};

void PrintTo(const BadLine& line, std::ostream* out) {
  for (const std::string& argument : line.arguments) *out << "'" << argument << "' ";
}

class BadUsageTest : public test::SerialProgramTest,
                     public ::testing::WithParamInterface<BadLine> {};

TEST_P(BadUsageTest, is_one_line_and_exit_code_2) {
  const Ended ended = run_serial(GetParam().arguments);
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_TRUE(says_one_line(ended, GetParam().word));
  EXPECT_EQ(ended.out, "");
}

INSTANTIATE_TEST_SUITE_P(
    Lines, BadUsageTest,
    ::testing::Values(
        BadLine{{"--n"}, "--n: needs a value"}, BadLine{{"--n", ""}, "--n: needs a value"},
        BadLine{{"--n="}, "--n: needs a value"},
        BadLine{{"--n", "abc"}, "--n abc: must be a whole"},
        BadLine{{"--n", "64x"}, "64x: must be a whole"},
        BadLine{{"--n", "6.5"}, "6.5: must be a whole"},
        BadLine{{"--n", "1e3"}, "1e3: must be a whole"},
        BadLine{{"--n", "--quiet"}, "--n --quiet: must be a whole"},
        BadLine{{"--n", "2"}, "from 3 to 1048576"}, BadLine{{"--n", "0"}, "from 3"},
        BadLine{{"--n=-64"}, "from 3"}, BadLine{{"--n", "1048577"}, "to 1048576"},
        BadLine{{"--n", "4294967360"}, "to 1048576"},  // 64 in 32 bits
        BadLine{{"--n", "99999999999999999999"}, "to 1048576"},
        BadLine{{"--iterations"}, "--iterations: needs a value"},
        BadLine{{"--iterations", "-1"}, "--iterations -1: must be a whole number from 0"},
        BadLine{{"--iterations", "-3"}, "from 0"},
        BadLine{{"--iterations", "2147483648"}, "from 0"},
        BadLine{{"--iterations", "ten"}, "ten: must be a whole"},
        BadLine{{"--max-iterations", "0"}, "--max-iterations 0: must be a whole number from 1"},
        BadLine{{"--max-iterations", "many"}, "many: must be a whole"},
        BadLine{{"--tolerance"}, "--tolerance: needs a value"},
        BadLine{{"--tolerance", "small"}, "small: not a number"},
        BadLine{{"--tolerance", ""}, "--tolerance: needs a value"},
        BadLine{{"--tolerance", "1e-4x"}, "1e-4x: not a number"},
        BadLine{{"--tolerance", "-1"}, "zero or more"},
        BadLine{{"--tolerance", "nan"}, "zero or more"},
        BadLine{{"--tolerance", "inf"}, "zero or more"},
        BadLine{{"--iterations", "5", "--tolerance", "1e-3"}, "without --tolerance"},
        BadLine{{"--tolerance", "1e-3", "--iterations", "5"}, "without --tolerance"},
        BadLine{{"--max-iterations", "9", "--iterations", "5"}, "--max-iterations"},
        BadLine{{"--problem"}, "--problem: needs a value"},
        BadLine{{"--problem", "poisson"}, "laplace, probe or harmonic"},
        BadLine{{"--problem", ""}, "--problem: needs a value"},
        BadLine{{"--problem", "Laplace"}, "laplace, probe or harmonic"},
        BadLine{{"--problem", "harmonic", "--n", "4097"}, "up to n = 4096"},
        BadLine{{"--n", "4097", "--problem=harmonic"}, "up to n = 4096"},
        BadLine{{"--check-every", "10"}, "in every iteration"},
        BadLine{{"--record"}, "--record: needs a value"},
        BadLine{{"--record="}, "--record: needs a value"},
        BadLine{{"--record-field", "half"}, "must be full, rows or none"},
        BadLine{{"--record-field"}, "--record-field: needs a value"},
        BadLine{{"--quiet=yes"}, "--quiet: takes no value"},
        BadLine{{"--frobnicate"}, "--frobnicate: no such option"},
        BadLine{{"--frobnicate=3"}, "--frobnicate=3: no such option"},
        BadLine{{"-n", "64"}, "-n: no such option"}, BadLine{{"64"}, "64: no such option"},
        BadLine{{""}, "no such option"}));

class OptionsTest : public test::SerialProgramTest {};

TEST_F(OptionsTest, help_lists_every_option_and_exits_0) {
  const Ended ended = run_serial({"--help"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.err, "");
  for (const char* option : {"--n", "--iterations", "--tolerance", "--max-iterations", "--problem",
                             "--record", "--record-field", "--quiet", "--help"}) {
    EXPECT_NE(ended.out.find(std::string("  ") + option + " "), std::string::npos) << option;
  }
  EXPECT_EQ(ended.out.find("--check-every"), std::string::npos) << "this step has no such option";
  EXPECT_NE(ended.out.find("exit codes"), std::string::npos);
}

TEST_F(OptionsTest, a_value_may_stand_after_an_equals_sign) {
  const Ended apart = run_serial({"--n", "40", "--iterations", "3"});
  const Ended joined = run_serial({"--n=40", "--iterations=3"});
  EXPECT_EQ(apart.exit_code, 0);
  EXPECT_EQ(joined.exit_code, 0);
  EXPECT_NE(joined.out.find("n = 40 "), std::string::npos) << joined.out;
  EXPECT_NE(joined.out.find("after 3 iterations"), std::string::npos) << joined.out;
  EXPECT_NE(apart.out.find("after 3 iterations"), std::string::npos) << apart.out;
}

TEST_F(OptionsTest, quiet_prints_nothing) {
  const Ended ended = run_serial({"--n", "40", "--iterations", "3", "--quiet"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.out, "");
  EXPECT_EQ(ended.err, "");
}

TEST_F(OptionsTest, a_record_below_a_file_is_exit_code_4) {
  const std::string file = temporary("file");
  test::write_file(file, "not a folder");
  for (const std::string& dir : {file + "/record", file}) {
    const Ended ended = run_serial({"--n", "16", "--iterations", "1", "--record", dir});
    EXPECT_EQ(ended.exit_code, 4);
    EXPECT_TRUE(says_one_line(ended, dir + ": Not a directory"));
    EXPECT_EQ(ended.out, "") << "it should find out before it runs";
  }
}

TEST_F(OptionsTest, a_record_where_no_folder_can_be_made_is_exit_code_4) {
  const Ended ended = run_serial({"--n", "16", "--iterations", "1", "--record", "/proc/nope"});
  EXPECT_EQ(ended.exit_code, 4);
  EXPECT_TRUE(says_one_line(ended, "--record /proc/nope: "));
}

TEST_F(OptionsTest, the_record_folder_is_made_with_its_parents) {
  const std::string dir = temporary("a/b c/d");
  EXPECT_EQ(run_serial({"--n", "16", "--iterations", "1", "--record", dir}).exit_code, 0);
  EXPECT_TRUE(test::exists(dir + "/run.json"));
}

/// The n that a message ends with: "... the largest n that fits is 12345".
int largest_n_named(const std::string& message) {
  const std::string words = "the largest n that fits is ";
  const std::size_t at = message.find(words);
  return at == std::string::npos ? -1 : std::atoi(message.c_str() + at + words.size());
}

TEST_F(OptionsTest, a_field_larger_than_memory_is_exit_code_5_and_names_the_largest_n) {
  const Ended ended = run_serial({"--n", "1048576", "--iterations", "1"});  // 8.8 TB
  EXPECT_EQ(ended.exit_code, 5);
  EXPECT_TRUE(says_one_line(ended, "n = 1048576 needs 8796.1 GB of memory"));
  EXPECT_GT(largest_n_named(ended.err), 1000);
  EXPECT_LT(largest_n_named(ended.err), 1048576);
}

// `ulimit -v`, as login nodes have it: the limit counts what the program has already taken.
TEST_F(OptionsTest, the_largest_n_named_fits_under_a_limit_of_the_shell) {
  const std::string limit = "ulimit -v 60000";
  const Ended refused = run_program({kSerialProgram, "--n", "1048576"}, limit);
  EXPECT_EQ(refused.exit_code, 5);
  const int n = largest_n_named(refused.err);
  EXPECT_GT(n, 1000)
      << "60 MB hold two fields of 2,700 x 2,700 points, less what the program takes";
  const Ended ended =
      run_program({kSerialProgram, "--n", std::to_string(n), "--iterations", "1"}, limit);
  EXPECT_EQ(ended.exit_code, 0) << "n = " << n << ", signal " << ended.signal << ": " << ended.err;
}

TEST_F(OptionsTest, a_run_that_does_not_converge_is_exit_code_1) {
  const Ended ended = run_serial({"--n", "64", "--max-iterations", "3"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_NE(ended.out.find("NOT CONVERGED after 3 iterations"), std::string::npos) << ended.out;
  EXPECT_NE(ended.out.find("raise --max-iterations"), std::string::npos) << ended.out;
}

TEST_F(OptionsTest, a_run_that_converges_is_exit_code_0) {
  const Ended ended = run_serial({"--n", "64", "--tolerance", "1e-3"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_NE(ended.out.find("  converged after "), std::string::npos) << ended.out;
}

TEST_F(OptionsTest, iterations_are_made_however_small_the_residual) {
  const Ended ended = run_serial({"--n", "16", "--problem", "harmonic", "--iterations", "4"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_NE(ended.out.find("done after 4 iterations"), std::string::npos) << ended.out;
}

TEST_F(OptionsTest, a_residual_equal_to_the_tolerance_has_converged) {
  const Ended ended = run_serial({"--n", "16", "--problem", "harmonic", "--tolerance", "0"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_NE(ended.out.find("converged after 1 iterations"), std::string::npos) << ended.out;
}

/// Options as parse_options reads them, in this process: for command lines that are right.
lab::Options parse(std::vector<std::string> arguments, lab::StepDefaults defaults) {
  arguments.insert(arguments.begin(), "program");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(&argument[0]);
  return lab::parse_options(static_cast<int>(argv.size()), argv.data(), defaults, "a_step");
}

TEST(ParseOptionsTest, defaults) {
  const lab::Options options = parse({}, {64});
  EXPECT_EQ(options.step, "a_step");
  EXPECT_EQ(options.n, 64);
  EXPECT_FALSE(options.fixed_iterations);
  EXPECT_EQ(options.max_iterations, 1000);
  EXPECT_EQ(options.tolerance, 1e-4);
  EXPECT_EQ(options.problem, lab::ProblemKind::kLaplace);
  EXPECT_EQ(options.record_dir, "");
  EXPECT_EQ(options.field_record, lab::FieldRecord::kFull);
  EXPECT_FALSE(options.quiet);
}

TEST(ParseOptionsTest, values) {
  const lab::Options options = parse({"--n", "3", "--iterations", "2147483647", "--problem",
                                      "probe", "--record-field", "rows", "--quiet"},
                                     {64});
  EXPECT_EQ(options.n, 3);
  EXPECT_TRUE(options.fixed_iterations);
  EXPECT_EQ(options.max_iterations, 2147483647);
  EXPECT_LT(options.tolerance, 0);
  EXPECT_EQ(options.problem, lab::ProblemKind::kProbe);
  EXPECT_EQ(options.field_record, lab::FieldRecord::kRows);
  EXPECT_TRUE(options.quiet);
}

TEST(ParseOptionsTest, check_every_is_for_steps_that_have_it) {
  EXPECT_EQ(parse({}, {64, 10}).check_every, 10);
  EXPECT_EQ(parse({"--check-every", "7"}, {64, 10}).check_every, 7);
  EXPECT_EQ(parse({"--check-every", "10000"}, {64, 10}).check_every, 10000);
}

TEST(ParseOptionsDeathTest, check_every_has_bounds) {
  for (const char* bad : {"0", "-1", "10001", "99999999999999999999"}) {
    EXPECT_EXIT(parse({"--check-every", bad}, {64, 10}), ::testing::ExitedWithCode(2),
                "must be a whole number from 1 to 10000")
        << bad;
  }
  EXPECT_EXIT(parse({"--check-every", "often"}, {64, 10}), ::testing::ExitedWithCode(2),
              "must be a whole number");
}

TEST(ParseOptionsTest, large_fields_are_recorded_by_their_row_hashes) {
  using lab::FieldRecord;
  EXPECT_EQ(parse({"--n", "16384"}, {64}).field_record, FieldRecord::kFull);
  EXPECT_EQ(parse({"--n", "16385"}, {64}).field_record, FieldRecord::kRows);
  EXPECT_EQ(parse({"--n", "16385", "--record-field", "full"}, {64}).field_record,
            FieldRecord::kFull);
}

TEST(ParseOptionsTest, the_largest_harmonic_problem_is_taken) {
  EXPECT_EQ(parse({"--problem", "harmonic", "--n", "4096"}, {64}).n, 4096);
}

}  // namespace
