// The trace, and the ranges of NVTX in it. Programs without kernels are linked with this alone.

#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include <unistd.h>

#include <cuda_on_cpu/program.h>
#include <cuda_on_cpu/report.h>

#include "activity.h"

namespace cuda_on_cpu {
namespace {

using Clock = std::chrono::steady_clock;

struct Trace {
  const std::string path = std::getenv("LAB_TRACE_TSV") ? std::getenv("LAB_TRACE_TSV") : "";
  std::map<std::array<std::string, 3>, TraceRow> rows;  // by table, name and shape
  struct Range {
    std::string name;
    Clock::time_point start;
  };
  std::vector<Range> open;  // ranges that are not closed

  void write() {
    for (const Range& range : open) note("open", range.name);
    std::string lines;
    for (const auto& [key, row] : rows) lines += row_of(row);
    if (rows.empty() || append(path, lines, TraceRow::kHeading)) return;
    const std::string words = "LAB_TRACE_TSV=" + path + ": cannot be written";
    write_report({.kind = "other", .words = words});
    std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, words.c_str());
    _exit(kExitCannotWrite);
  }
};

/// It is written when the program ends, and outlives every other object.
Trace& trace() {
  static Trace& trace = *new Trace;
  static const struct AtExit {
    ~AtExit() { trace.write(); }
  } at_exit;
  return trace;
}

}  // namespace

bool trace_is_wanted() { return !trace().path.empty(); }

TraceRow* note(const char* table, const std::string& name, std::size_t bytes,
               const std::string& shape) {
  if (!trace_is_wanted()) return nullptr;
  TraceRow& row = trace().rows[{table, name, shape}];
  row.table = table;
  row.name = name;
  ++row.count;
  row.bytes += static_cast<double>(bytes);
  return &row;
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

int nvtxRangePushA(const char* name) {
  std::vector<Trace::Range>& open = trace().open;
  if (trace_is_wanted()) open.push_back({name, Clock::now()});
  return static_cast<int>(open.size()) - 1;
}

int nvtxRangePop() {
  std::vector<Trace::Range>& open = trace().open;
  if (open.empty()) return -2;
  const std::chrono::duration<double, std::nano> ns = Clock::now() - open.back().start;
  TraceRow& row = *note("nvtx", open.back().name);
  row.total_ns += ns.count();
  row.max_ns = std::max(row.max_ns, ns.count());
  row.mean_ns = row.median_ns = row.total_ns / row.count;
  open.pop_back();
  return static_cast<int>(open.size());
}
