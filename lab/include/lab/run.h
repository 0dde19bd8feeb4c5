#pragma once

#include <lab/options.h>
#include <lab/problem.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lab {

/// What the run record and the first line of output call the device ("NVIDIA H200"). Without a
/// call, the run is on the CPU. `require_gpu_memory` calls it. With `timed` false the run prints
/// and records no times: the device only stands in for another.
void set_device(const std::string& name, bool timed = true);

/// The time now, in UTC, as strftime's `pattern` has it.
std::string utc_time(const char* pattern);

/// Writes DIR/NAME, which is there only when it is whole; exit code 4 if it cannot be written.
void write_whole(const std::string& dir, const std::string& name, const std::string& text);

/// A line that the run prints under its first one.
void add_note(const std::string& note);

/// Ends the program with exit code 5 if the host has less than bytes_per_point * n * n bytes of
/// memory left; the message names the largest n that fits.
void require_host_memory(int n, std::size_t bytes_per_point);

/// The largest n, at least 0, with bytes_per_point * n * n <= bytes.
int largest_n(std::size_t bytes, std::size_t bytes_per_point);

/// Hash of one row of a field, 64 bits. Values below 1e-30 in magnitude count as zero, as they do
/// wherever the lab compares fields (they are the underflow of a front that has not arrived yet).
std::uint64_t row_hash(const float* row, int n);

/// What rows.csv says of a field: the hash of each row.
std::string rows_csv(const std::vector<std::uint64_t>& hashes);

/// The story of one run: it times the iterations, prints them for people, and writes the record.
class Run {
 public:
  /// Prints what runs where, and starts the clock of the first iteration.
  Run(const Options& options, const Problem& problem);

  /// Call this after each iteration (or after each check): stops the clock, notes the residual,
  /// starts the clock again. `iteration` counts the sweeps performed so far.
  void record(int iteration, double residual);

  /// Ends the run: prints the summary and writes the record that --record asked for.
  /// `field` is the result; point (i, j) stands at i * stride_i + j * stride_j, in host memory.
  /// Returns the program's exit code.
  int finish(const float* field, std::size_t stride_i, std::size_t stride_j);

  /// The same if the result is not in host memory: `fetch` copies some rows of it. They are
  /// asked for from the first to the last, and only if something is to be done with them.
  int finish(const FetchRows& fetch);

  int n() const { return options_.n; }  ///< points per side

 private:
  void print_progress(int before, int iteration, double residual);
  void clear_progress();
  int last_iteration() const;
  double last_residual() const;  // NaN before the first
  void print_times() const;
  void write_record(const FetchRows& fetch) const;
  void write_run_json() const;

  using Clock = std::chrono::steady_clock;
  struct Check {
    int iteration;
    double residual;
    double milliseconds;  // per iteration since the last check
  };

  const Options options_;
  const Problem& problem_;
  std::vector<Check> checks_;
  double set_up_ms_;
  double distance_ = -1;  // to the exact solution; -1: not computed
  Clock::time_point iteration_start_;
  Clock::time_point last_progress_;
  bool progress_line_ = false;  // a progress line stands on the terminal
};

}  // namespace lab
