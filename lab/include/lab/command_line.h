#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace lab {

/// Reads a program's command line: each option is declared with where its value goes, and `read`
/// then reads all words; `--n 64` and `--n=64` are the same. A bad command line ends the program
/// with exit code 2 and one line on stderr, "goals: --ranks two: must be a whole number from 1 to
/// 100000".
///
///   CommandLine line("goals", kHelp);
///   line.flag("--gpu", &on_gpu);
///   line.integers("--ranks", 1, 100000, &ranks);
///   line.read(argc, argv, &program);
///
/// What is never given keeps the value that it had.
class CommandLine {
 public:
  /// `program` stands before each message, also of lab::fail; --help prints `help` and exits 0.
  CommandLine(const char* program, std::string help);

  /// An option without a value: sets *given.
  void flag(const std::string& option, bool* given);

  /// Any text, which as all values is not empty.
  void text(const std::string& option, std::string* value);

  /// A whole number from `low` to `high`.
  void integer(const std::string& option, int low, int high, int* value);

  /// Several of them, "1,2,4". An option that is given twice adds to them.
  void integers(const std::string& option, int low, int high, std::vector<int>* values);

  /// A time in seconds, from 1 to 86400 (a day), not always a whole number.
  void seconds(const std::string& option, double* value);

  /// A value that `use` reads. Where that does not like it, it calls lab::fail itself.
  void value(const std::string& option, std::function<void(const std::string& value)> use);

  /// Several values with commas between them: `use` reads one at a time.
  void list(const std::string& option, std::function<void(const std::string& value)> use);

  /// Reads the words from left to right; the first that is wrong is told. The word that is no
  /// option is the file of a program: it has to be there once, and goes to *program, with a slash
  /// in it (a shell would search the PATH for a name without). With `program` null there is none.
  void read(int argc, char** argv, std::string* program = nullptr) const;

  /// The number that `text` says, which stands after `before` in the message where it is none from
  /// `low` to `high`: "--n ", or "LAB_WAIT=" of a variable of the environment.
  static long long read_integer(const std::string& before, const std::string& text, long long low,
                                long long high);

 private:
  struct Option {
    bool takes_value;
    std::function<void(const std::string& value)> use;
  };
  std::string help_;
  std::map<std::string, Option> options_;
};

}  // namespace lab
