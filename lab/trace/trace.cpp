// What the tracer says at the program's end.

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

  const char* quiet = std::getenv("LAB_TRACE_QUIET");
  if (!quiet || std::string(quiet) != "1") print_tables(tables);
  Table open{"open", "", {}};
  std::size_t never_closed = 0;
  for (const auto& [name, count] : open_nvtx_ranges()) {
    never_closed += count;
    open.rows.push_back({name, {}});
    for (std::size_t k = 0; k < count; ++k) open.rows.back().series.add(0);
  }
  tables.push_back(open);
  if (never_closed > 0) {
    std::fprintf(stderr, "\ntrace: %zu NVTX range%s never closed\n", never_closed,
                 never_closed == 1 ? " was" : "s were");
  }
  if (const std::size_t pops = nvtx_pops_of_nothing(); pops > 0) {
    std::fprintf(stderr, "\ntrace: %zu x nvtxRangePop, and no range was open\n", pops);
    Table table{"pops", "", {{"nvtxRangePop", {}}}};
    for (std::size_t k = 0; k < pops; ++k) table.rows.back().series.add(0);
    tables.push_back(table);
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
