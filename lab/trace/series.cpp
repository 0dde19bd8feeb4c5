#include "series.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace trace {

Series::Summary Series::summarize() const {
  Summary s;
  if (durations_.empty()) return s;
  std::vector<double> sorted = durations_;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t n = sorted.size();
  s.mean = total_ / n;
  s.median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
  s.min = sorted.front();
  s.max = sorted.back();
  double squares = 0;
  for (double d : sorted) squares += (d - s.mean) * (d - s.mean);
  s.deviation = n > 1 ? std::sqrt(squares / (n - 1)) : 0;
  return s;
}

namespace {

std::string shape(const int* v) {
  return std::to_string(v[0]) + "x" + std::to_string(v[1]) + "x" + std::to_string(v[2]);
}

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
    const Series::Summary s = row.series.summarize();
    std::fprintf(stderr, "%7.1f %14.0f %9zu %12.1f %12.1f %11.0f %11.0f %11.1f",
                 all > 0 ? 100 * row.series.total() / all : 0, row.series.total(),
                 row.series.count(), s.mean, s.median, s.min, s.max, s.deviation);
    if (any_bytes) std::fprintf(stderr, " %13.3f", 1e-6 * row.series.bytes());
    std::fprintf(stderr, "  %s\n", row.name.c_str());
  }
}

/// Of the rows that are kernels' the facts beside the times; nothing where there are none.
void print_kernel_facts(const std::vector<Row>& rows) {
  bool heading = false;
  for (const Row& row : rows) {
    if (!row.is_kernel) continue;
    if (!heading) {
      std::fprintf(stderr, "\n%14s %11s %6s %15s %9s  %s\n", "Grid", "Block", "Regs", "Shared(B)",
                   "Local(B)", "Name");
      heading = true;
    }
    const KernelFacts& k = row.kernel;
    const std::string shared =
        std::to_string(k.static_shared) + "+" + std::to_string(k.dynamic_shared);
    std::fprintf(stderr, "%14s %11s %6d %15s %9u  %s\n", shape(k.grid).c_str(),
                 shape(k.block).c_str(), k.registers, shared.c_str(), k.local, row.name.c_str());
  }
}

}  // namespace

void print_tables(std::vector<Table> tables) {
  for (Table& table : tables) {
    if (table.rows.empty()) continue;
    sort_by_cost(&table.rows);
    print_summary(table);
    print_kernel_facts(table.rows);
  }
}

bool write_tables(const std::vector<Table>& tables, const std::string& path) {
  const std::string aside = path + ".partial";
  std::FILE* file = std::fopen(aside.c_str(), "w");
  if (!file) return false;
  std::fprintf(file,
               "table\tname\tcount\ttotal_ns\tmean_ns\tmedian_ns\tmin_ns\tmax_ns\tdeviation_ns\t"
               "bytes\tgrid\tblock\tregisters\tstatic_shared\tdynamic_shared\tlocal\n");
  for (const Table& table : tables) {
    std::vector<Row> rows = table.rows;
    sort_by_cost(&rows);
    for (const Row& row : rows) {
      const Series::Summary s = row.series.summarize();
      std::string name = row.name;
      for (char& c : name) {
        if (c == '\t' || c == '\n') c = ' ';
      }
      std::fprintf(file, "%s\t%s\t%zu\t%.0f\t%.1f\t%.1f\t%.0f\t%.0f\t%.1f\t%.0f",
                   table.name.c_str(), name.c_str(), row.series.count(), row.series.total(), s.mean,
                   s.median, s.min, s.max, s.deviation, row.series.bytes());
      if (row.is_kernel) {
        const KernelFacts& k = row.kernel;
        std::fprintf(file, "\t%s\t%s\t%d\t%d\t%d\t%u\n", shape(k.grid).c_str(),
                     shape(k.block).c_str(), k.registers, k.static_shared, k.dynamic_shared,
                     k.local);
      } else {
        std::fprintf(file, "\t-\t-\t-\t-\t-\t-\n");
      }
    }
  }
  const bool written = std::fflush(file) == 0 && !std::ferror(file);
  if (std::fclose(file) != 0 || !written || std::rename(aside.c_str(), path.c_str()) != 0) {
    std::remove(aside.c_str());
    return false;
  }
  return true;
}

}  // namespace trace
