#include "report.h"

#include <atomic>
#include <cctype>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

#include <dlfcn.h>
#include <unistd.h>

#include <lab/exit_codes.h>
#include <lab/short_path.h>

namespace cuda_on_cpu {
namespace {

/// A message that begins with a line of the program, "jacobi.cu:93: ...", names that file once: its
/// other lines are "line 79".
std::string with_file_named_once(std::string message) {
  const std::size_t colon = message.find(':');
  if (colon == std::string::npos || colon + 1 == message.size() ||
      !std::isdigit(static_cast<unsigned char>(message[colon + 1]))) {
    return message;
  }
  const std::string file = " " + message.substr(0, colon + 1);
  for (std::size_t at; (at = message.find(file)) != std::string::npos;) {
    message.replace(at, file.size(), " line ");
  }
  return message;
}

void print_line(const char* words_before, const char* format, va_list arguments) {
  char text[1024];
  std::vsnprintf(text, sizeof text, format, arguments);
  const std::string line = with_file_named_once(text);
  std::fflush(stdout);
  if (isatty(STDERR_FILENO)) std::fputs("\r\033[K", stderr);  // a progress line may stand there
  std::fprintf(stderr, "%s: %s%s\n", program_invocation_short_name, words_before, line.c_str());
}

bool of_the_backend(const std::string& file) {
  for (const char* folder : {"/lab/cpu/include/", "/lab/cpu/src/", "/include/c++/"}) {
    if (file.find(folder) != std::string::npos) return true;
  }
  return false;
}

const char* keep(const std::string& file) {
  static std::set<std::string> files;
  return files.insert(file).first->c_str();
}

}  // namespace

void fail(const char* format, ...) {
  static std::atomic<bool> failed{false};
  if (failed.exchange(true)) {
    for (;;) pause();  // another thread ends the program
  }
  if (const char* words = lab::words_before_the_end(lab::kExitCudaError)) {
    va_list arguments;
    va_start(arguments, format);
    print_line(words, format, arguments);
    va_end(arguments);
  }
  _exit(lab::kExitCudaError);
}

void warn(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_line("", format, arguments);
  va_end(arguments);
}

std::string text(Where where) {
  return std::string(lab::short_path(where.file)) + ":" + std::to_string(where.line);
}

std::string text(uint3 v) {
  return "(" + std::to_string(v.x) + "," + std::to_string(v.y) + "," + std::to_string(v.z) + ")";
}

Where line_of(const void* return_address) {
  Dl_info info;
  if (!dladdr(return_address, &info) || !info.dli_fbase) return {};
  Dl_info program_itself;
  dladdr(reinterpret_cast<const void*>(&line_of), &program_itself);
  if (info.dli_fbase != program_itself.dli_fbase) return {};  // a library's
  // addr2line takes addresses as the linker gave them; -i also names the callers that an inlined
  // function was inlined into, the innermost first.
  const auto offset =
      static_cast<const char*>(return_address) - 1 - static_cast<const char*>(info.dli_fbase);
  char program[4096];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  if (length <= 0) return {};
  program[length] = '\0';
  char command[4300];
  std::snprintf(command, sizeof command, "addr2line -i -e '%s' 0x%tx 2>/dev/null", program, offset);
  FILE* pipe = popen(command, "r");
  if (!pipe) return {};
  Where found;
  char line[4096];
  while (std::fgets(line, sizeof line, pipe)) {
    char* colon = std::strrchr(line, ':');
    if (!colon) continue;
    const int number = std::atoi(colon + 1);
    const std::string file(line, colon);
    if (found.line == 0 && number > 0 && !of_the_backend(file)) found = {keep(file), number};
  }
  pclose(pipe);
  return found;
}

}  // namespace cuda_on_cpu
