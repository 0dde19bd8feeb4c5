#include "report.h"

#include <atomic>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

#include <dlfcn.h>
#include <unistd.h>

#include <cuda_on_cpu/program.h>

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

bool of_the_backend(const std::string& file) {
  const std::string own = "/" CUDA_ON_CPU_FOLDER "/";
  for (const std::string& folder : {own + "include/", own + "src/", std::string("/include/c++/")}) {
    if (file.find(folder) != std::string::npos) return true;
  }
  return program.not_its_own && file.find(program.not_its_own) != std::string::npos;
}

/// The first line that is the program's own, at the address or of what was inlined there. Without
/// addr2line there is none.
Where line_at(std::uintptr_t address) {
  // The program by its process: a folder may have a name that no shell takes.
  char command[100];
  std::snprintf(command, sizeof command, "exec addr2line -i -e /proc/%d/exe 0x%jx 2>/dev/null",
                static_cast<int>(getpid()), std::uintmax_t{address});
  std::FILE* answer = popen(command, "r");
  static auto& files = *new std::set<std::string>;  // Where has a pointer to one's name
  Where found;
  char line[4096];
  while (answer && std::fgets(line, sizeof line, answer)) {
    const char* colon = std::strrchr(line, ':');
    const int number = colon ? std::atoi(colon + 1) : 0;
    if (found.line > 0 || number <= 0) continue;
    const std::string file(line, colon - line);
    if (!of_the_backend(file)) found = {files.insert(file).first->c_str(), number};
  }
  if (answer) pclose(answer);
  return found;
}

}  // namespace

void warn(Report report, const std::string& message, const char* words_before) {
  const std::string place = report.line > 0 ? joined(report.file, ":", report.line, ": ") : "";
  report.words = with_file_named_once(place + message);
  write_report(report);
  std::fflush(stdout);
  if (isatty(STDERR_FILENO)) std::fputs("\r\033[K", stderr);  // a progress line may stand there
  std::fprintf(stderr, "%s: %s%s\n", program_invocation_short_name, words_before,
               report.words.c_str());
}

void end_program(Report report, const std::string& message) {
  static std::atomic<bool> failed{false};
  if (failed.exchange(true)) {
    for (;;) pause();  // another thread ends the program
  }
  const char* words = program.words_before_the_end ? program.words_before_the_end() : "";
  if (words) warn(std::move(report), message, words);
  _exit(kExitFailed);
}

Report report(const char* kind, Where where) {
  Report report{kind};
  if (where.line > 0) {
    report.file = file_name(where.file);
    report.line = where.line;
  }
  return report;
}

const char* file_name(const char* path) {
  if (program.file_name) return program.file_name(path);
  const char* slash = std::strrchr(path, '/');
  return slash ? slash + 1 : path;
}

std::string text(Where where) { return joined(file_name(where.file), ":", where.line); }

std::string numbers(uint3 v) { return joined(v.x, ",", v.y, ",", v.z); }
std::string text(dim3 v) { return joined(v.x, " x ", v.y, " x ", v.z); }
std::string text(uint3 v) { return "(" + numbers(v) + ")"; }

Where line_of(const void* return_address) {
  Dl_info info;
  if (!dladdr(return_address, &info) || !info.dli_fbase) return {};
  Dl_info program_itself;
  dladdr(reinterpret_cast<const void*>(&line_of), &program_itself);
  if (info.dli_fbase != program_itself.dli_fbase) return {};  // a library's
  // addr2line takes addresses as the linker gave them.
  const auto offset = reinterpret_cast<std::uintptr_t>(return_address) - 1 -
                      reinterpret_cast<std::uintptr_t>(info.dli_fbase);
  static auto& known = *new std::map<std::uintptr_t, Where>;
  static auto& mutex = *new std::mutex;  // two workers may fail at once
  const std::lock_guard lock(mutex);
  const auto [entry, is_new] = known.try_emplace(offset);
  if (is_new) entry->second = line_at(offset);
  return entry->second;
}

}  // namespace cuda_on_cpu
