#pragma once

#include <string>

namespace cuda_on_cpu {

/// A row of a trace: all that happened in a run under one name. The CPU, which
/// stands in for a GPU, knows no times.
struct TraceRow {
  std::string table, name;  ///< "kernels", "jacobi.cu:84"
  double count = 0;
  double total_ns = 0, mean_ns = 0, median_ns = 0, min_ns = 0, max_ns = 0, deviation_ns = 0;
  double bytes = 0;
  // Of a kernel.
  std::string grid = "-", block = "-", registers = "-";
  std::string static_shared = "-", dynamic_shared = "-", local = "-";

  /// Calls visit(name, value) for each column in order.
  template <class Self, class Visit>
  static void for_each_column(Self& self, Visit visit) {
    visit("table", self.table);
    visit("name", self.name);
    visit("count", self.count);
    visit("total_ns", self.total_ns);
    visit("mean_ns", self.mean_ns);
    visit("median_ns", self.median_ns);
    visit("min_ns", self.min_ns);
    visit("max_ns", self.max_ns);
    visit("deviation_ns", self.deviation_ns);
    visit("bytes", self.bytes);
    visit("grid", self.grid);
    visit("block", self.block);
    visit("registers", self.registers);
    visit("static_shared", self.static_shared);
    visit("dynamic_shared", self.dynamic_shared);
    visit("local", self.local);
  }
};

}  // namespace cuda_on_cpu
