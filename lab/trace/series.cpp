#include "trace.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <unistd.h>

#include <cuda_on_cpu/rows.h>

namespace trace {

void Series::fill(cuda_on_cpu::TraceRow* row) const {
  const std::size_t n = durations_.size();
  row->count = static_cast<double>(n);
  row->bytes = bytes_;
  row->total_ns = std::round(total_);
  if (n == 0) return;
  std::vector<double> sorted = durations_;
  std::sort(sorted.begin(), sorted.end());
  row->mean_ns = total_ / n;
  row->median_ns = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
  row->min_ns = std::round(sorted.front());
  row->max_ns = std::round(sorted.back());
  double squares = 0;
  for (double d : sorted) squares += (d - row->mean_ns) * (d - row->mean_ns);
  row->deviation_ns = n > 1 ? std::sqrt(squares / (n - 1)) : 0;
}

namespace {

void sort_by_cost(std::vector<Row>* rows) {
  std::stable_sort(rows->begin(), rows->end(),
                   [](const Row& a, const Row& b) { return a.series.total() > b.series.total(); });
}

cuda_on_cpu::TraceRow in_columns(const Table& table, const Row& row) {
  cuda_on_cpu::TraceRow all = row.kernel;
  all.table = table.name;
  all.name = row.name;
  row.series.fill(&all);
  return all;
}

}  // namespace

std::vector<Row> exchanges(std::vector<OnTimeLine> kernels) {
  std::sort(kernels.begin(), kernels.end(),
            [](const OnTimeLine& a, const OnTimeLine& b) { return a.start < b.start; });
  Row beside{"started beside a kernel", {}}, alone{"started beside no kernel", {}};
  std::uint64_t busy_until = 0;  // with kernels that are no exchange
  for (const OnTimeLine& kernel : kernels) {
    if (kernel.is_exchange) {
      Row& row = kernel.start < busy_until ? beside : alone;
      row.series.add(static_cast<double>(kernel.end - kernel.start));
    } else {
      busy_until = std::max(busy_until, kernel.end);
    }
  }
  std::vector<Row> rows;
  for (const Row* row : {&beside, &alone}) {
    if (row->series.count() > 0) rows.push_back(*row);
  }
  return rows;
}

bool write_tables(const std::vector<Table>& tables, const std::string& path) {
  std::string lines;
  for (const Table& table : tables) {
    std::vector<Row> rows = table.rows;
    sort_by_cost(&rows);
    for (const Row& row : rows) lines += row_of(in_columns(table, row));
  }
  const std::string aside = path + ".partial" + std::to_string(getpid());  // a rank's own
  std::remove(aside.c_str());
  if (cuda_on_cpu::append(aside, lines, cuda_on_cpu::TraceRow::kHeading) &&
      std::rename(aside.c_str(), path.c_str()) == 0) {
    return true;
  }
  std::remove(aside.c_str());
  return false;
}

}  // namespace trace
