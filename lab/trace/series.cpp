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

/// The rows have been sorted.
void print_summary(const Table& table) {
  double all = 0;
  bool any_bytes = false;
  for (const Row& row : table.rows) {
    all += row.series.total();
    any_bytes |= row.series.bytes() > 0;
  }
  std::fprintf(stderr, "\n ** %s\n\n%7s %14s %9s %12s %12s %11s %11s %11s%s  %s\n",
               table.title.c_str(), "Time(%)", "Total(ns)", "Count", "Avg(ns)", "Med(ns)",
               "Min(ns)", "Max(ns)", "StdDev(ns)", any_bytes ? "     Total(MB)" : "", "Name");
  for (const Row& row : table.rows) {
    cuda_on_cpu::TraceRow r;
    row.series.fill(&r);
    std::fprintf(stderr, "%7.1f %14.0f %9.0f %12.1f %12.1f %11.0f %11.0f %11.1f",
                 all > 0 ? 100 * row.series.total() / all : 0, r.total_ns, r.count, r.mean_ns,
                 r.median_ns, r.min_ns, r.max_ns, r.deviation_ns);
    if (any_bytes) std::fprintf(stderr, " %13.3f", 1e-6 * row.series.bytes());
    std::fprintf(stderr, "  %s\n", row.name.c_str());
  }
}

/// The launches of kernels.
void print_kernel_facts(const std::vector<Row>& rows) {
  std::fprintf(stderr, "\n%14s %11s %6s %15s %9s  %s\n", "Grid", "Block", "Regs", "Shared(B)",
               "Local(B)", "Name");
  for (const Row& row : rows) {
    const cuda_on_cpu::TraceRow& k = row.kernel;
    std::fprintf(stderr, "%14s %11s %6s %15s %9s  %s\n", k.grid.c_str(), k.block.c_str(),
                 k.registers.c_str(), (k.static_shared + "+" + k.dynamic_shared).c_str(),
                 k.local.c_str(), row.name.c_str());
  }
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

void print_tables(std::vector<Table> tables) {
  for (Table& table : tables) {
    if (table.rows.empty()) continue;
    sort_by_cost(&table.rows);
    print_summary(table);
    if (table.name == "kernels") print_kernel_facts(table.rows);
  }
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
