#include "programs/command_line.h"

#include <cstdio>
#include <exception>
#include <fstream>
#include <new>

#include <lab/exit_codes.h>

#include "run/child.h"

namespace validate {

void write_verdict(const std::string& file, const std::string& verdict) {
  if (file.empty()) return;
  std::ofstream out(file);
  if (!(out << verdict << std::endl)) {
    lab::fail(lab::kExitCannotWrite, "%s: cannot be written", file.c_str());
  }
}

int run_to_exit_code(const char* program, const std::function<int()>& body) {
  catch_interrupts();
  try {
    return body();
  } catch (const Interrupted& signalled) {
    std::fprintf(stderr, "\n%s: interrupted\n", program);
    return 128 + signalled.signal;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "%s: the reference does not fit in memory: take a smaller n\n", program);
    return lab::kExitDoesNotFit;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program, error.what());
    return lab::kExitBadUsage;
  }
}

}  // namespace validate
