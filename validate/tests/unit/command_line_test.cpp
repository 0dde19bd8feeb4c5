#include "programs/command_line.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

/// A program with an option of each kind.
struct Program {
  bool quiet = false;
  std::string next = "as before", folder, file;
  int iterations = 7;
  std::vector<int> ranks;
  std::vector<std::string> steps;
  double time_limit = 300;

  void read(std::vector<std::string> words, bool takes_file = true) {
    validate::CommandLine line("tried", "what --help prints\n");
    line.flag("--quiet", &quiet);
    line.text("--next", &next);
    line.text("--folder", &folder);
    line.integer("--iterations", 1, 1000, &iterations);
    line.integers("--ranks", 1, 8, &ranks);
    line.list("--steps", [&](const std::string& step) { steps.push_back(step); });
    line.seconds("--time-limit", &time_limit);
    words.insert(words.begin(), "tried");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    line.read(static_cast<int>(words.size()), argv.data(), takes_file ? &file : nullptr);
  }
};

TEST(CommandLineTest, puts_each_value_where_it_belongs) {
  Program program;
  program.read({"--quiet", "--next", "Go on.", "a/program", "--folder", "there", "--iterations",
                "1000", "--ranks", "1,8", "--steps", "00,,04", "--time-limit", "2.5", "--ranks",
                "3"});
  EXPECT_TRUE(program.quiet);
  EXPECT_EQ(program.next, "Go on.");
  EXPECT_EQ(program.folder, "there");
  EXPECT_EQ(program.file, "a/program");
  EXPECT_EQ(program.iterations, 1000);
  EXPECT_EQ(program.ranks, (std::vector<int>{1, 8, 3}));
  EXPECT_EQ(program.steps, (std::vector<std::string>{"00", "", "04"}));
  EXPECT_EQ(program.time_limit, 2.5);
}

TEST(CommandLineTest, leaves_alone_what_is_not_given) {
  Program program;
  program.read({"program"});
  EXPECT_FALSE(program.quiet);
  EXPECT_EQ(program.next, "as before");
  EXPECT_EQ(program.iterations, 7);
  EXPECT_EQ(program.time_limit, 300);
  EXPECT_EQ(program.file, "./program") << "the file of that name, and not one in the PATH";
}

TEST(CommandLineTest, takes_the_word_behind_an_option_as_its_value) {
  Program program;
  program.read({"--next", "--quiet", "program"});
  EXPECT_EQ(program.next, "--quiet");
  EXPECT_FALSE(program.quiet);
}

TEST(CommandLineDeathTest, prints_its_help) {
  EXPECT_EXIT(Program().read({"--help", "--nonsense"}), ::testing::ExitedWithCode(0), "^$");
}

struct BadLine {
  std::vector<std::string> words;
  const char* message;
  bool takes_file = true;
};

TEST(CommandLineDeathTest, a_bad_line_is_exit_code_2_and_one_line) {
  const std::vector<BadLine> bad_lines = {
      {{}, "which program\\? \\(see --help\\)"},
      {{""}, "which program\\? \\(see --help\\)"},
      {{"one", "two"}, "one program at a time, not one and two"},
      {{"two"}, "two: no such option \\(see --help\\)", false},
      {{"--nonsense", "program"}, "--nonsense: no such option \\(see --help\\)"},
      {{"--quiet=1", "program"}, "--quiet: takes no value"},
      {{"program", "--next"}, "--next: needs a value \\(see --help\\)"},
      {{"--folder", "", "program"}, "--folder: needs a value \\(see --help\\)"},
      {{"--iterations", "0", "program"}, "--iterations 0: must be a whole number from 1 to 1000"},
      {{"--iterations", "1001", "program"}, "--iterations 1001: must be a whole number from .*"},
      {{"--iterations", "7x", "program"}, "--iterations 7x: must be a whole number from .*"},
      {{"--iterations", "", "program"}, "--iterations: needs a value \\(see --help\\)"},
      // 2^64 + 1: it does not wrap around.
      {{"--iterations", "18446744073709551617"}, "--iterations 18446744073709551617: must be .*"},
      {{"--ranks", "", "program"}, "--ranks: needs a value \\(see --help\\)"},
      {{"--ranks", "1,,2", "program"}, "--ranks : must be a whole number from 1 to 8"},
      {{"--ranks", "1,two", "program"}, "--ranks two: must be a whole number from 1 to 8"},
      {{"--steps", "", "program"}, "--steps: needs a value \\(see --help\\)"},
      {{"--time-limit", "0", "program"},
       "--time-limit 0: must be a number of seconds from 1 to .*"},
      {{"--time-limit", "nan", "program"}, "--time-limit nan: must be a number of seconds from .*"},
      {{"--time-limit", "inf", "program"}, "--time-limit inf: must be a number of seconds from .*"},
      {{"--time-limit", "1h", "program"}, "--time-limit 1h: must be a number of seconds from .*"},
      // The first that is wrong is told.
      {{"--ranks", "9", "--nonsense"}, "--ranks 9: must be .*"},
  };
  for (const BadLine& bad : bad_lines) {
    EXPECT_EXIT(Program().read(bad.words, bad.takes_file), ::testing::ExitedWithCode(2),
                std::string("^tried: ") + bad.message + "\n$")
        << ::testing::PrintToString(bad.words);
  }
}

}  // namespace
