// What the tracer writes at the program's end.

#include "trace.h"

#include <cstdio>
#include <cstdlib>

namespace trace {

// Where the toolkit has no CUPTI, activity.cpp is not there to take the place of these.
__attribute__((weak)) Rows activity_rows() { return {}; }
__attribute__((weak)) std::vector<std::string> activity_remarks() {
  return {"the GPU is not traced: this toolkit has no CUPTI"};
}

static void report() {
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

void report_at_exit() { [[maybe_unused]] static const int handed_in = std::atexit(report); }

}  // namespace trace
