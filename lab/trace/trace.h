#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <cuda_on_cpu/trace_row.h>

namespace trace {

/// The durations of all events of one name, in nanoseconds, and the bytes that they moved.
class Series {
 public:
  /// One more event: how long it took, and how many bytes it moved (0: none, or not known).
  void add(double ns, double bytes = 0) {
    durations_.push_back(ns);
    total_ += ns;
    bytes_ += bytes;
  }
  std::size_t count() const { return durations_.size(); }
  double total() const { return total_; }  ///< nanoseconds of all events
  double bytes() const { return bytes_; }  ///< that all of them moved

  /// Puts count, times and bytes into their columns: times in all and per event, 0 where there was
  /// none. `deviation_ns`: the sample's (over n - 1).
  void fill(cuda_on_cpu::TraceRow* row) const;

 private:
  std::vector<double> durations_;
  double total_ = 0, bytes_ = 0;
};

/// One line of a table.
struct Row {
  std::string name;
  Series series;
  cuda_on_cpu::TraceRow kernel = {};  // its launch; nothing else of it, and nothing of other rows
};

struct Table {
  std::string name;  // "kernels"
  std::vector<Row> rows;
};

/// When a kernel ran, in nanoseconds of the GPU's clock.
struct OnTimeLine {
  std::uint64_t start, end;
  bool is_exchange;  // NCCL's, of rows or other values between two ranks
};

/// The exchanges, by whether another kernel ran when they started. It is then in another stream, as
/// the kernels before an exchange in its own stream have ended.
std::vector<Row> exchanges(std::vector<OnTimeLine> kernels);

/// Writes all rows as one table, separated by tabs, aside and then renamed: the tables in this
/// order, in each the rows that cost most first. False if that fails.
bool write_tables(const std::vector<Table>& tables, const std::string& path);

/// What the program did with the GPU: kernels, API calls, copies, unified memory, allocations.
/// Empty where it never started CUDA up.
std::vector<Table> activity_tables();

/// What kept the tracer from seeing all of it.
std::vector<std::string> activity_remarks();

/// The NVTX ranges that have ended, by name ("domain:name" outside of the default domain).
Table nvtx_table();

/// The ranges that have begun, on any thread, and have not ended: how many of each name.
std::map<std::string, std::size_t> open_nvtx_ranges();

/// How often nvtxRangePop was called where no range was open.
std::size_t nvtx_pops_of_nothing();

/// From now on, the tables are written to the file that LAB_TRACE_TSV names when the program ends.
void report_at_exit();

}  // namespace trace
