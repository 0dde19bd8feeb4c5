// What the tracer writes at the program's end.

#include "trace.h"

#include <cstdio>
#include <cstdlib>

namespace trace {
namespace {

void report() {
  Rows rows = activity_rows();
  rows.merge(nvtx_rows());
  for (const std::string& remark : activity_remarks()) {
    std::fprintf(stderr, "\ntrace: %s\n", remark.c_str());
  }
  const char* path = std::getenv("LAB_TRACE_TSV");
  // What starts a job of ranks may start CUDA up too, and does nothing with it.
  if (path && *path && !rows.empty() && !write_rows(rows, path)) {
    std::fprintf(stderr, "trace: %s: cannot be written\n", path);
  }
}

}  // namespace

void report_at_exit() { [[maybe_unused]] static const int handed_in = std::atexit(report); }

}  // namespace trace
