#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <unistd.h>

#include <lab/exit_codes.h>

namespace lab {
namespace {
std::string program_name = "jacobi";
Job job;
}  // namespace

void set_program_name(const char* name) { program_name = name; }
void set_job(const Job& new_job) { job = new_job; }
int job_rank() { return job.rank; }
int job_size() { return job.size; }

const char* words_before_the_end(ExitCode code) { return job.words ? job.words(code) : ""; }

void fail(ExitCode code, const char* format, ...) {
  std::fflush(stdout);
  if (const char* words = words_before_the_end(code)) {
    va_list arguments;
    va_start(arguments, format);
    char text[2048];
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    // A progress line may stand on the terminal: clear it. One call: the lines of ranks do not mix.
    std::fprintf(stderr, "%s%s: %s%s\n", isatty(STDERR_FILENO) ? "\r\033[K" : "",
                 program_name.c_str(), words, text);
  }
  if (job.end) job.end(code);
  std::exit(code);
}

}  // namespace lab
