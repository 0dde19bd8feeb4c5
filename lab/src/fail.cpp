#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include <unistd.h>

#include <cuda_on_cpu/program.h>
#include <cuda_on_cpu/report.h>
#include <lab/exit_codes.h>
#include <lab/short_path.h>

namespace lab {
namespace {
std::string program_name = "jacobi";

const char* words_before_the_end(ExitCode code) { return job.words ? job.words(code) : ""; }

// CUDA on the CPU names files as the lab does, and ends the program as `fail` ends it.
[[maybe_unused]] const bool names_handed_in = [] {
  cuda_on_cpu::program.file_name = short_path;
  cuda_on_cpu::program.not_its_own = "/lab/include/lab/cuda_check.h";
  cuda_on_cpu::program.words_before_the_end = [] { return words_before_the_end(kExitCudaError); };
  return true;
}();

[[noreturn]] void end_program(ExitCode code, Report report, const char* format, va_list arguments) {
  std::fflush(stdout);
  if (const char* words = words_before_the_end(code)) {
    char text[2048];
    std::vsnprintf(text, sizeof text, format, arguments);
    if (report.has("call")) report.words = report.file + ":" + std::to_string(report.line) + ": ";
    report.words += text;
    cuda_on_cpu::write_report(report);
    // A progress line may stand on the terminal: clear it. One call: the lines of ranks do not mix.
    std::fprintf(stderr, "%s%s: %s%s\n", isatty(STDERR_FILENO) ? "\r\033[K" : "",
                 program_name.c_str(), words, report.words.c_str());
  }
  if (job.end) job.end(code);
  std::exit(code);
}
}  // namespace

void set_program_name(const char* name) { program_name = name; }

void fail(ExitCode code, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  end_program(code, {"other"}, format, arguments);
}

void fail(ExitCode code, const FailedCall& call, const char* format, ...) {
  Report report = call.more ? *call.more : Report{"call"};
  report.file = call.file;
  report.line = call.line;
  report.array = call.call;
  report.flags = std::string("call ") + call.error;
  va_list arguments;
  va_start(arguments, format);
  end_program(code, std::move(report), format, arguments);
}

void fail(ExitCode code, Report report, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  end_program(code, std::move(report), format, arguments);
}

}  // namespace lab
