#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <cuda_on_cpu/trace_row.h>

namespace trace {

/// All events of one name in one table.
struct Row {
  cuda_on_cpu::TraceRow columns;  // of a kernel also its launch; in_columns puts in the times
  std::vector<double> durations;  // of each event, in nanoseconds

  /// One more event: how long it took, and how many bytes it moved (0: none, or not known).
  void add(double ns, double bytes = 0) {
    durations.push_back(ns);
    columns.bytes += bytes;
  }

  /// The columns, with count and times: those in all and per event, 0 where there was none.
  /// `deviation_ns`: the sample's (over n - 1).
  cuda_on_cpu::TraceRow in_columns() const;
};

/// By table ("kernels"), name and, of a kernel, its launch.
using Rows = std::map<std::array<std::string, 3>, Row>;

/// The row of that name, which is made if there is none.
inline Row& find_row(Rows* rows, const std::string& table, const std::string& name,
                     const std::string& launch = "") {
  Row& row = (*rows)[{table, name, launch}];
  row.columns.table = table;
  row.columns.name = name;
  return row;
}

/// When a kernel ran, in nanoseconds of the GPU's clock.
struct OnTimeLine {
  std::uint64_t start, end;
  bool is_exchange;  // NCCL's, of rows or other values between two ranks
};

/// Adds the exchanges, by whether another kernel ran when they started. It is then in another
/// stream, as the kernels before an exchange in its own stream have ended.
void add_exchanges(std::vector<OnTimeLine> kernels, Rows* rows);

/// Writes all rows as one table, separated by tabs, aside and then renamed: of each table the rows
/// that cost most first. False if that fails.
bool write_rows(const Rows& rows, const std::string& path);

/// What the program did with the GPU: kernels, API calls, copies, unified memory, allocations.
/// Empty where it never started CUDA up.
Rows activity_rows();

/// What kept the tracer from seeing all of it.
std::vector<std::string> activity_remarks();

/// The NVTX ranges: those that have ended ("nvtx"), by name ("domain:name" outside of the default
/// domain); those that have not, on any thread ("open"); and each nvtxRangePop where no range was
/// open ("pops").
Rows nvtx_rows();

/// From now on, the tables are written to the file that LAB_TRACE_TSV names when the program ends.
void report_at_exit();

}  // namespace trace
