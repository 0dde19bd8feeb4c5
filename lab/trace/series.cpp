#include "trace.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <tuple>

#include <unistd.h>

#include <cuda_on_cpu/rows.h>

namespace trace {

using cuda_on_cpu::TraceRow;

TraceRow Row::in_columns() const {
  TraceRow row = columns;
  const std::size_t n = durations.size();
  row.count = static_cast<double>(n);
  if (n == 0) return row;
  std::vector<double> sorted = durations;
  std::sort(sorted.begin(), sorted.end());
  const double total = std::accumulate(durations.begin(), durations.end(), 0.0);
  row.total_ns = std::round(total);
  row.mean_ns = total / n;
  row.median_ns = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
  row.min_ns = std::round(sorted.front());
  row.max_ns = std::round(sorted.back());
  double squares = 0;
  for (double d : sorted) squares += (d - row.mean_ns) * (d - row.mean_ns);
  row.deviation_ns = n > 1 ? std::sqrt(squares / (n - 1)) : 0;
  return row;
}

void add_exchanges(std::vector<OnTimeLine> kernels, Rows* rows) {
  std::sort(kernels.begin(), kernels.end(),
            [](const OnTimeLine& a, const OnTimeLine& b) { return a.start < b.start; });
  std::uint64_t busy_until = 0;  // with kernels that are no exchange
  for (const OnTimeLine& kernel : kernels) {
    if (kernel.is_exchange) {
      const bool beside = kernel.start < busy_until;
      find_row(rows, "exchanges", beside ? "started beside a kernel" : "started beside no kernel")
          .add(static_cast<double>(kernel.end - kernel.start));
    } else {
      busy_until = std::max(busy_until, kernel.end);
    }
  }
}

bool write_rows(const Rows& rows, const std::string& path) {
  std::vector<TraceRow> sorted;
  for (const auto& [key, row] : rows) sorted.push_back(row.in_columns());
  std::stable_sort(sorted.begin(), sorted.end(), [](const TraceRow& a, const TraceRow& b) {
    return std::tie(a.table, b.total_ns) < std::tie(b.table, a.total_ns);
  });
  std::string lines;
  for (const TraceRow& row : sorted) lines += cuda_on_cpu::row_of(row);
  const std::string aside = path + ".partial" + std::to_string(getpid());  // a rank's own
  std::remove(aside.c_str());
  if (cuda_on_cpu::append(aside, lines, TraceRow::kHeading) &&
      std::rename(aside.c_str(), path.c_str()) == 0) {
    return true;
  }
  std::remove(aside.c_str());
  return false;
}

}  // namespace trace
