#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <cuda_on_cpu/report.h>

#include "judge/check_program.h"
#include "reference/reference.h"
#include "run/child.h"
#include "run/temporary_folder.h"

/// What several test files need: temporary files, small programs, fields as vectors.
namespace test {

using validate::TemporaryFolder;
inline constexpr double kPi = 3.14159265358979323846;
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// The build defines the paths of the programs that it has; a handout holds no solutions.
#ifdef LAB_SOLUTION_00_SERIAL
inline const std::string kSerialProgram = LAB_SOLUTION_00_SERIAL;
#else
inline const std::string kSerialProgram;
#endif

/// For tests that run the serial solution: they are skipped where it is not built.
class SerialProgramTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (kSerialProgram.empty()) GTEST_SKIP() << "needs solutions/00_serial";
  }
  /// A file's or a folder's path in a temporary folder that lives as long as the test.
  std::string temporary(const std::string& name) const { return folder_.path() + "/" + name; }

 private:
  TemporaryFolder folder_;
};

inline bool exists(const std::string& path) { return std::filesystem::exists(path); }

/// The names in a folder, sorted.
inline std::vector<std::string> names_in(const std::string& dir) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(dir)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

inline void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw std::runtime_error(path + ": cannot be written");
}

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path + ": cannot be read");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Makes an executable shell script.
inline void write_script(const std::string& path, const std::string& body) {
  write_file(path, "#!/bin/sh\n" + body);
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
}

/// A program that has ended, its two outputs apart.
struct Ended {
  int exit_code;
  int signal;
  std::string out, err;
};

/// Runs a program to its end; a shell sets it up first, with `set_up` (such as "ulimit -f 8").
inline Ended run_program(std::vector<std::string> command, const std::string& set_up = ":") {
  const TemporaryFolder folder;
  const std::string err = folder.path() + "/stderr";
  command.insert(command.begin(), {"sh", "-c", set_up + "; exec \"$@\" 2>\"$0\"", err});
  const validate::ChildResult child = validate::run_child(command, 60);
  if (!child.started) throw std::runtime_error("no shell: " + child.output);
  if (child.timed_out) throw std::runtime_error("no end within 60 s: " + command[4]);
  return {child.exit_code, child.signal, child.output, read_file(err)};
}

/// A field from a rule value(i, j): n x n floats, row j outer.
template <typename Value>
std::vector<float> make_field(int n, Value value) {
  std::vector<float> field(static_cast<std::size_t>(n) * n);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      field[static_cast<std::size_t>(j) * n + i] = static_cast<float>(value(i, j));
    }
  }
  return field;
}

/// The reference's current field: n x n floats, row j outer.
inline std::vector<float> field_of(const validate::Reference& reference) {
  std::vector<float> field;
  for (int j = 0; j < reference.n(); ++j) {
    field.insert(field.end(), reference.row(j), reference.row(j) + reference.n());
  }
  return field;
}

/// Values that are equal in every bit, so that -0.0f is not 0.0f here.
inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// The float whose bits differ in the last place only.
inline float flip_last_bit(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  bits ^= 1;
  std::memcpy(&value, &bits, sizeof bits);
  return value;
}

/// The floats of a file.
inline std::vector<float> read_floats(const std::string& path) {
  const std::string bytes = read_file(path);
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

/// A report as a program gives it: "access=reads|place=past".
inline cuda_on_cpu::Report report(const char* kind, int line, const std::string& columns = "") {
  cuda_on_cpu::Report report{kind};
  report.file = line > 0 ? "jacobi.cu" : "";
  report.line = line;
  report.words =
      (line > 0 ? "jacobi.cu:" + std::to_string(line) + ": " : "") + "no words that anybody knows";
  std::istringstream all(columns);
  for (std::string column; std::getline(all, column, '|');) {
    const std::string name = column.substr(0, column.find('='));
    const std::string text = column.substr(name.size() + 1);
    std::istringstream heading(cuda_on_cpu::Report::kHeading);
    std::string row = cuda_on_cpu::row_of(report), its_name;
    std::size_t begin = 0;
    while (heading >> its_name && its_name != name) begin = row.find('\t', begin) + 1;
    EXPECT_EQ(its_name, name);
    row.replace(begin, row.find_first_of("\t\n", begin) - begin, text);
    row.pop_back();
    EXPECT_TRUE(cuda_on_cpu::read_row(row, &report));
  }
  return report;
}

/// Commands of a shell script: the program says so, and ends with exit code 3.
inline std::string ends_with(const cuda_on_cpu::Report& report) {
  std::string row = cuda_on_cpu::row_of(report);
  row.pop_back();
  return "printf '%s\n' '" + row + "' >>\"$LAB_REPORT\"\necho 'x: " + report.words +
         "' >&2\nexit 3\n";
}

}  // namespace test
