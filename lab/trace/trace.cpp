// What the tracer writes at the program's end.

#include "trace.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

namespace trace {
namespace {

void report() {
  std::vector<Table> tables = activity_tables();
  tables.insert(tables.begin(), nvtx_table());

  const auto counted = [](const char* table, const std::string& name, std::size_t count) {
    Table one{table, {{name, {}}}};
    for (std::size_t k = 0; k < count; ++k) one.rows.back().series.add(0);
    return one;
  };
  for (const auto& [name, count] : open_nvtx_ranges()) {
    tables.push_back(counted("open", name, count));
  }
  if (const std::size_t pops = nvtx_pops_of_nothing(); pops > 0) {
    tables.push_back(counted("pops", "nvtxRangePop", pops));
  }
  for (const std::string& remark : activity_remarks()) {
    std::fprintf(stderr, "\ntrace: %s\n", remark.c_str());
  }
  const char* path = std::getenv("LAB_TRACE_TSV");
  // What starts a job of ranks may start CUDA up too, and does nothing with it.
  const bool empty = std::all_of(tables.begin(), tables.end(),
                                 [](const Table& table) { return table.rows.empty(); });
  if (path && *path && !empty && !write_tables(tables, path)) {
    std::fprintf(stderr, "trace: %s: cannot be written\n", path);
  }
}

}  // namespace

void report_at_exit() {
  static std::once_flag once;
  std::call_once(once, [] { std::atexit(report); });
}

}  // namespace trace
