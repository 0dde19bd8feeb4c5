#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <unistd.h>

#include <lab/exit_codes.h>

namespace lab {
namespace {
std::string program_name = "jacobi";
}

void set_program_name(const char* name) { program_name = name; }

void fail(ExitCode code, const char* format, ...) {
  std::fflush(stdout);
  // A progress line may stand on the terminal: clear it.
  if (isatty(STDERR_FILENO)) std::fputs("\r\033[K", stderr);
  std::fprintf(stderr, "%s: ", program_name.c_str());
  va_list arguments;
  va_start(arguments, format);
  std::vfprintf(stderr, format, arguments);
  va_end(arguments);
  std::fputc('\n', stderr);
  std::exit(code);
}

}  // namespace lab
