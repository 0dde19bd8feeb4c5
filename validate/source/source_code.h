#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace validate {

/// C++ source without comments and white space: what is left where two files say the same thing.
std::string code_only(const std::string& source);

/// C++ source line by line, without comments and without what strings hold.
std::vector<std::string> code_lines(const std::string& source);

/// Its lines first to last, from 1, as code_only gives them, without strings.
std::string code_between(const std::string& source, int first, int last);

/// One line of it, from 1, as code_only gives it; "": it has none.
std::string code_at(const std::string& source, int line);

/// The names that C++ source holds, keywords among them, those in comments and strings left out.
std::set<std::string> names_in(const std::string& source);

/// What a line of C++ source allocates: "f_old" of cudaMallocManaged(f_old, bytes); "": nothing.
std::string allocated_in(const std::string& source, int line);

/// A function that C++ source defines.
struct Function {
  std::string name;                   ///< "": there is none
  int first_line = 0, last_line = 0;  ///< from its first word to its closing bracket
  bool is_kernel = false;             ///< __global__
  std::size_t begin = 0, end = 0;     ///< its { and } among the tokens of cuda_filter::lex
};

std::vector<Function> functions_in(const std::string& source);

/// Its lines, as code_only gives them.
std::string code_of(const Function& function, const std::string& source);

Function function_at(const std::string& source, int line);

/// The array that a line writes, or reads, if there is but one: "f_old" of x = f_old[k]; else "".
std::string array_at(const std::string& source, int line, bool written);

/// Work that a line of CUDA source queues: a launch, a fill or a copy.
struct Queued {
  int line = 0;
  std::string call;                    ///< "cudaMemsetAsync"; of a launch the kernel's name
  std::vector<std::string> arguments;  ///< without white space
  std::string stream;                  ///< "": the default one
  bool launch = false;
};

std::vector<Queued> queued_in(const std::string& source);

/// The number of the step that the first line of its source names: 9 of "// 09_shared_tile: ...";
/// 0: none.
int step_in(const std::string& source);

/// The line of the first function of three ints, as idx(i, j, n) is one, that multiplies them as
/// ints and returns the place of a point; 0: there is none. From n = 46341 on n * n is more than an
/// int holds.
int int_index_in(const std::string& source);

/// A macro that multiplies a parameter as it stands, as in #define idx(i, j, n) (j * n + i), and is
/// given a sum there: idx(i, j + 1, n); or one that is a sum, and is multiplied: #define kTile 32 +
/// 2.
/// `line`: where it is defined; 0: there is none.
struct BareMacro {
  int line = 0;
  std::string name, parameter;  ///< parameter "": it has none
};
BareMacro bare_macro_in(const std::string& source);

/// The line of the first int that is given the bytes of a field, n * n * sizeof(float); 0: there is
/// none. From n = 23171 on they are more than an int holds.
int int_bytes_in(const std::string& source);

/// The value of a constant: a whole number, or a product of such and of other constants; 0: it has
/// none.
long constant_in(const std::string& source, const std::string& name);

/// The numbers of the lines that hold `what`, comments among them.
std::vector<std::string> lines_with(const std::string& what, const std::string& source);

/// Reads a whole text file; returns false where it cannot be read.
bool read_text(const std::string& path, std::string* text);

/// What CUDA source leaves unchecked, in a line for the learner; empty if it checks everything: the
/// error of a launch, the result of a CUDA call, whether memory fits. It looks at the text alone,
/// and knows more ways to check than the lab's CUDA_CHECK. If it is in doubt, it says nothing.
std::string unchecked_calls(const std::string& source);

}  // namespace validate
