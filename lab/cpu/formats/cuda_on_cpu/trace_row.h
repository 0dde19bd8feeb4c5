#pragma once

#include <string>
#include <tuple>

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

  /// The columns in order, and their names.
  static constexpr const char* kHeading =
      "table\tname\tcount\ttotal_ns\tmean_ns\tmedian_ns\tmin_ns\tmax_ns\tdeviation_ns\tbytes\t"
      "grid\tblock\tregisters\tstatic_shared\tdynamic_shared\tlocal\n";
  template <class Self>
  static auto columns(Self& self) {
    return std::tie(self.table, self.name, self.count, self.total_ns, self.mean_ns, self.median_ns,
                    self.min_ns, self.max_ns, self.deviation_ns, self.bytes, self.grid, self.block,
                    self.registers, self.static_shared, self.dynamic_shared, self.local);
  }
};

}  // namespace cuda_on_cpu
