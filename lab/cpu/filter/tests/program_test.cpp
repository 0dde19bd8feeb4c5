// The program itself: its exit codes, its messages, and what it leaves behind.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "rewrite.h"

namespace {

class ProgramTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "cuda_to_cpp_" +
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// Runs the program in the folder and returns its exit code.
  int run(const std::string& arguments) {
    const std::string command = "cd '" + folder_ + "' && '" CUDA_TO_CPP "' " + arguments + " >../" +
                                streams() + ".out 2>../" + streams() + ".err";
    const int status = std::system(command.c_str());
    const std::string path = folder_ + "/../" + streams();
    output_ = read(path + ".out");
    errors_ = read(path + ".err");
    std::filesystem::remove(path + ".out");
    std::filesystem::remove(path + ".err");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  static std::string read(const std::string& path) {
    std::string text;
    EXPECT_TRUE(cuda_filter::read_file(path, &text)) << path;
    return text;
  }
  std::string content(const std::string& file) const { return read(folder_ + "/" + file); }
  void write(const std::string& file, const std::string& text) const {
    std::ofstream(folder_ + "/" + file, std::ios::binary) << text;
  }
  int count_files() const {
    int count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder_)) ++count;
    return count;
  }
  std::string streams() const { return std::filesystem::path(folder_).filename().string(); }

  std::string folder_, output_, errors_;
};

TEST_F(ProgramTest, writes_the_result) {
  write("in.cu", "k<<<1, 2>>>(x);\r\n");
  EXPECT_EQ(run("in.cu out.cpp"), 0);
  EXPECT_EQ(errors_ + output_, "");
  EXPECT_EQ(
      content("out.cpp"),
      "# 1 \"in.cu\"\n::cuda_on_cpu::launch([=](auto&&... lab_arguments) { k(lab_arguments...); "
      "}, 1, 2)(x);\r\n");
  EXPECT_EQ(count_files(), 2);
}

TEST_F(ProgramTest, replaces_an_older_result) {
  write("in.cu", "a");
  write("out.cpp", "much older");
  EXPECT_EQ(run("in.cu out.cpp"), 0);
  EXPECT_EQ(content("out.cpp"), "# 1 \"in.cu\"\na");
}

TEST_F(ProgramTest, takes_an_empty_file) {
  write("in.cu", "");
  EXPECT_EQ(run("in.cu out.cpp"), 0);
  EXPECT_EQ(content("out.cpp"), "# 1 \"in.cu\"\n");
}

TEST_F(ProgramTest, takes_any_name) {
  write("a \"b\" \\ c.cu", "a");
  EXPECT_EQ(run("'a \"b\" \\ c.cu' out.cpp"), 0);
  EXPECT_EQ(content("out.cpp"), "# 1 \"a \\\"b\\\" \\\\ c.cu\"\na");
}

TEST_F(ProgramTest, reports_errors_as_a_compiler_does) {
  write("in.cu", "\n__trap();\nk<<<1>>>(x);\n");
  EXPECT_EQ(run("in.cu out.cpp"), 1);
  EXPECT_EQ(
      errors_,
      "in.cu:2: error: CUDA on the CPU does not cover a kernel that stops itself (__trap): run "
      "this on a GPU (" CUDA_ON_CPU_FOLDER
      "/README.md)\n"
      "in.cu:3: error: the launch needs a grid and a block: kernel<<<grid, block>>>(...)\n");
  EXPECT_EQ(count_files(), 1);
}

TEST_F(ProgramTest, errors_leave_an_older_result_alone) {
  write("in.cu", "asm");
  write("out.cpp", "older");
  EXPECT_EQ(run("in.cu out.cpp"), 1);
  EXPECT_EQ(content("out.cpp"), "older");
}

TEST_F(ProgramTest, looks_for_headers_beside_the_source) {
  std::filesystem::create_directories(folder_ + "/sub");
  write("sub/in.cu", "#include \"h.h\"\n");
  write("sub/h.h", "k<<<1, 2>>>(x);\n");
  EXPECT_EQ(run("sub/in.cu out.cpp"), 1);
  EXPECT_EQ(errors_,
            "sub/in.cu:1: error: CUDA on the CPU does not cover a header that launches a kernel, "
            "h.h: put that into the .cu file itself (" CUDA_ON_CPU_FOLDER "/README.md)\n");
  EXPECT_EQ(run("sub/in.cu out.cpp --headers-too"), 0);
}

TEST_F(ProgramTest, says_what_cannot_be_read_or_written) {
  write("in.cu", "a");
  std::filesystem::create_directories(folder_ + "/folder/full");
  const auto fails = [this](const std::string& arguments, const std::string& words) {
    EXPECT_EQ(run(arguments), 2) << arguments;
    EXPECT_EQ(errors_, "cuda_to_cpp: " + words + "\n");
    EXPECT_EQ(count_files(), 2) << arguments;
  };
  fails("missing.cu out.cpp", "missing.cu: cannot be read");
  fails("folder out.cpp", "folder: cannot be read");
  fails("in.cu nowhere/out.cpp", "nowhere/out.cpp: cannot be written");
  fails("in.cu folder", "folder: cannot be written");
  EXPECT_EQ(content("in.cu"), "a");
}

TEST_F(ProgramTest, says_what_is_wrong_with_a_command) {
  write("in.cu", "a");
  const auto fails = [this](const std::string& arguments) {
    EXPECT_EQ(run(arguments), 2) << arguments;
    EXPECT_EQ(errors_, "cuda_to_cpp: needs IN.cu OUT.cpp [--headers-too]\n");
    EXPECT_EQ(count_files(), 1) << arguments;
  };
  fails("");
  fails("in.cu");
  fails("in.cu out.cpp third");
  fails("in.cu out.cpp --haeders-too");
}

}  // namespace
