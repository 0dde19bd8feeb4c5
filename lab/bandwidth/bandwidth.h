#pragma once

#include <string>
#include <vector>

#include <cuda_runtime.h>

constexpr int kSamples = 21;
constexpr int kAtLeast = 10;  // samples of what is slow

/// One measurement.
struct Row {
  std::string what, way;
  int n = 0, block_x = 0, block_y = 0;  // 0: does not apply
  std::size_t bytes = 0;                // one array, or what a cache should hold
  const char* unit = "GB/s";
  std::size_t samples = 0;
  double min_us = 0, median_us = 0;
  double best = 0, median = 0;  // rates, by the least time and by the median
  double q1 = 0, q3 = 0;        // and their quartiles
};

/// All of them, in order.
inline std::vector<Row> rows;

/// The GPU here.
struct Machine {
  int gpus = 0;
  cudaDeviceProp properties;
  std::string driver = "unknown", date;
  double dram_peak = 0;  // what clock and bus width allow, GB/s; 0 where they are not told
};

Machine look_at_machine();

/// Prints what the GPU is, and all rows, as lines with tabs.
void print_lines(const Machine& machine);

/// Prints all rows for people.
void print_tables(const Machine& machine);

/// Writes them as DIR/bandwidth.tsv, with the ceilings at its top. Ends the program if it cannot.
void write_table(const std::string& results, const Machine& machine);
