#pragma once

#include <cuda_on_cpu/report.h>
#include <cuda_on_cpu/types.h>
#include <cuda_on_cpu/where.h>

#include <string>
#include <type_traits>
#include <utility>

namespace cuda_on_cpu {

/// How messages name a source file.
const char* file_name(const char* path);
/// "jacobi.cu:97"
std::string text(Where where);
/// "64 x 64 x 1"
std::string text(dim3 v);
/// "(31,2,0)"
std::string text(uint3 v);
/// "31,2,0"
std::string numbers(uint3 v);
inline std::string text(const std::string& words) { return words; }
template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number>>>
std::string text(Number number) {
  return std::to_string(number);
}
/// The parts of a message as one text: words, whole numbers, lines of the program, threads.
std::string joined(const auto&... parts) { return (... + text(parts)); }

/// A report of what is wrong in a line of the program: "race", say.
Report report(const char* kind, Where where);

/// Prints a line, `PROGRAM: [words_before]FILE:LINE: message`, on stderr, and adds it to the
/// reports.
void warn(Report report, const std::string& message, const char* words_before = "");

/// The same, and ends the program at once with the exit code of a CUDA error (3). Only the first of
/// several threads that fail is heard.
[[noreturn]] void end_program(Report report, const std::string& message);
[[noreturn]] void fail(Report report, const auto&... message) {
  end_program(std::move(report), joined(message...));
}

/// The line of the program that the instruction before `return_address` belongs to, as debug
/// information has it. The backend's own headers are passed over: it is the line that called them.
/// Without line numbers or addr2line: {"", 0}.
Where line_of(const void* return_address);

}  // namespace cuda_on_cpu
