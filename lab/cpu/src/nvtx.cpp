#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include <cuda_on_cpu/rows.h>
#include <cuda_on_cpu/trace_row.h>

namespace cuda_on_cpu {
namespace {

using Clock = std::chrono::steady_clock;

/// The ranges of this program: those that are open, and what each name has cost so far.
class Ranges {
 public:
  static Ranges& instance() {
    static Ranges ranges;
    return ranges;
  }

  int push(const char* name) {
    if (path_) open_.push_back({name, Clock::now()});
    return static_cast<int>(open_.size()) - 1;
  }

  int pop() {
    if (open_.empty()) return -2;
    const std::chrono::duration<double, std::nano> ns = Clock::now() - open_.back().start;
    TraceRow& row = ended_[open_.back().name];
    ++row.count;
    row.total_ns += ns.count();
    row.max_ns = std::max(row.max_ns, ns.count());
    open_.pop_back();
    return static_cast<int>(open_.size());
  }

  /// Appends to what else is known of the program, in the tracer's columns.
  ~Ranges() {
    if (!path_ || !*path_) return;
    std::string lines;
    const auto add = [&](TraceRow row, const char* table, const std::string& name) {
      row.table = table;
      row.name = name;
      row.mean_ns = row.median_ns = row.total_ns / row.count;
      lines += row_of(row);
    };
    TraceRow once;
    once.count = 1;
    for (const auto& [name, row] : ended_) add(row, "nvtx", name);
    for (const Open& range : open_) add(once, "open", range.name);
    if (!append(path_, lines, TraceRow::kHeading)) {
      std::fprintf(stderr, "LAB_TRACE_TSV=%s: cannot be written\n", path_);
    }
  }

 private:
  struct Open {
    std::string name;
    Clock::time_point start;
  };

  const char* path_ = std::getenv("LAB_TRACE_TSV");  // null: no trace is wanted
  std::vector<Open> open_;
  std::map<std::string, TraceRow> ended_;
};

}  // namespace
}  // namespace cuda_on_cpu

int nvtxRangePushA(const char* name) { return cuda_on_cpu::Ranges::instance().push(name); }
int nvtxRangePop() { return cuda_on_cpu::Ranges::instance().pop(); }
