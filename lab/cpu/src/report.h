#pragma once

#include <cuda_on_cpu/report.h>
#include <cuda_on_cpu/types.h>
#include <cuda_on_cpu/where.h>

#include <string>

namespace cuda_on_cpu {

/// A report of what is wrong in a line of the program: "race", say.
Report report(const char* kind, Where where);

/// Prints one line, `PROGRAM: FILE:LINE: message`, on stderr, adds it to the reports, and ends the
/// program at once with the exit code of a CUDA error (3). Only the first of several threads that
/// fail is heard.
[[noreturn]] void fail(Report report, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

/// The same line, and the program goes on.
void warn(Report report, const char* format, ...) __attribute__((format(printf, 2, 3)));

/// How messages name a source file.
const char* file_name(const char* path);
/// "jacobi.cu:97"
std::string text(Where where);
/// "(31,2,0)"
std::string text(uint3 v);
/// "31,2,0"
std::string numbers(uint3 v);

/// The line of the program that the instruction before `return_address` belongs to, as debug
/// information has it. The backend's own headers are passed over: it is the line that called them.
/// Without line numbers or addr2line: {"", 0}.
Where line_of(const void* return_address);

}  // namespace cuda_on_cpu
