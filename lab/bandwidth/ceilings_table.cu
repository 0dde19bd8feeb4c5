// What was measured, as tables: for people, and for the file bandwidth.tsv.

#include "bandwidth.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>

#include <lab/cuda_check.h>
#include <lab/format.h>
#include <lab/run.h>

namespace {

struct Ceiling {
  const char* level;
  const Row* row;
};

/// The row of the highest median rate among those that `counts` accepts; none: a null pointer.
const Row* best_row(const std::function<bool(const Row&)>& counts) {
  const Row* best = nullptr;
  for (const Row& row : rows) {
    if (counts(row) && (!best || row.median > best->median)) best = &row;
  }
  return best;
}

std::vector<Ceiling> ceilings_of(const Machine& machine) {
  const std::size_t l2 = machine.properties.l2CacheSize;
  std::size_t far_over_l2 = 0;  // arrays that L2 cannot hold; or the largest, where memory is small
  for (const Row& row : rows) {
    if (row.what == "size") far_over_l2 = std::max(far_over_l2, row.bytes);
  }
  far_over_l2 = std::min(far_over_l2, 4 * l2);
  auto is = [](const Row& row, const char* what) { return row.what == what; };
  return {
      {"dram", best_row([&](const Row& r) { return is(r, "size") && r.bytes >= far_over_l2; })},
      // Of the sets that L2 holds, those that fill a quarter of it or more. Smaller ones are read
      // by many blocks at once, and come in part from nearer than L2: on an H200 sets of up to
      // 2 MiB come faster than all of L2's slices together can deliver.
      {"l2", best_row([&](const Row& r) {
         return is(r, "cache") && r.way.rfind("l2_", 0) == 0 && r.bytes <= l2 && 4 * r.bytes >= l2;
       })},
      {"l1", best_row([](const Row& r) { return r.way == "l1_read"; })},
      {"to_gpu", best_row([](const Row& r) { return r.way == "to_gpu_pinned"; })},
      {"to_host", best_row([](const Row& r) { return r.way == "to_host_pinned"; })},
      {"float", best_row([](const Row& r) { return r.way == "multiply_add_float"; })},
      {"double", best_row([](const Row& r) { return r.way == "multiply_add_double"; })}};
}

std::string size_text(std::size_t bytes) {
  if (bytes >= std::size_t{1} << 30) return lab::format("%.0f GiB", bytes / 1073741824.0);
  if (bytes >= 1 << 20) return lab::format("%.0f MiB", bytes / 1048576.0);
  return lab::format("%.0f KiB", bytes / 1024.0);
}

/// One cell: the rate by the median, and by the least time.
std::string cell(const Row* row) {
  if (!row) return "-";
  const int digits = row->median < 100 ? 1 : 0;
  return lab::format("%.*f %7.*f", digits, row->median, digits, row->best);
}

void print_by_size(const char* what, const std::vector<const char*>& ways,
                   const std::vector<const char*>& titles) {
  std::printf("%5s %8s", "n", "array");
  for (const char* title : titles) std::printf(" %16s", title);
  std::printf("\n");
  for (const Row& first : rows) {
    if (first.what != what || first.way != ways[0]) continue;
    const std::string n = first.n > 0 ? std::to_string(first.n) : "";
    std::printf("%5s %8s", n.c_str(), size_text(first.bytes).c_str());
    for (const char* way : ways) {
      const Row* row = best_row([&](const Row& r) {
        return r.what == what && r.way == way && r.n == first.n && r.bytes == first.bytes;
      });
      std::printf(" %16s", cell(row).c_str());
    }
    std::printf("\n");
  }
}

}  // namespace

Machine look_at_machine() {
  Machine machine;
  int device = 0, clock_khz = 0, bus_bits = 0;
  CUDA_CHECK(cudaGetDeviceCount(&machine.gpus));
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaGetDeviceProperties(&machine.properties, device));
  if (cudaDeviceGetAttribute(&clock_khz, cudaDevAttrMemoryClockRate, device) == cudaSuccess &&
      cudaDeviceGetAttribute(&bus_bits, cudaDevAttrGlobalMemoryBusWidth, device) == cudaSuccess) {
    machine.dram_peak = 2.0 * clock_khz * 1e3 * bus_bits / 8 * 1e-9;
  }
  cudaGetLastError();  // what is not told is no error
  if (std::FILE* smi = popen(
          "nvidia-smi --query-gpu=driver_version --format=csv,noheader --id=0 2>/dev/null", "r")) {
    char line[64] = "";
    if (std::fgets(line, sizeof line, smi))
      machine.driver = std::string(line, std::strcspn(line, "\n"));
    pclose(smi);
  }
  machine.date = lab::utc_time("%Y-%m-%d");
  return machine;
}

void print_lines(const Machine& machine) {
  const cudaDeviceProp& gpu = machine.properties;
  std::printf("gpu\t%s\ngpus\t%d\ncompute_capability\t%d.%d\n", gpu.name, machine.gpus, gpu.major,
              gpu.minor);
  std::printf("l2_bytes\t%d\ncuda_runtime\t%d.%d\ndriver\t%s\n", gpu.l2CacheSize,
              CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10, machine.driver.c_str());
  for (const Row& row : rows) {
    std::printf("%s\t%.1f\t%.1f\t%.1f\t%zu\n", row.way.c_str(), row.median, row.q1, row.q3,
                row.samples);
  }
}

void print_tables(const Machine& machine) {
  std::printf("GPU: %s, CUDA %d.%d, driver %s\n", machine.properties.name, CUDART_VERSION / 1000,
              CUDART_VERSION % 1000 / 10, machine.driver.c_str());
  std::printf(
      "Rates in GB/s (1 GB = 10^9 bytes), bytes read plus bytes written. Each column has\n"
      "two: by the median time, and by the least, of %d to %d. An array has n x n floats.\n",
      kAtLeast, kSamples);
  std::printf("\nOn the GPU\n");
  print_by_size("size", {"copy_library", "copy_kernel", "copy_float4", "triad"},
                {"cudaMemcpy", "kernel", "float4 kernel", "triad (2 reads)"});
  std::printf("\nThreads per block, n = %d\n%10s %16s %16s\n",
              best_row([](const Row& r) { return r.what == "block"; })->n, "block", "copy",
              "triad");
  for (const Row& row : rows) {
    if (row.what != "block" || row.way != "copy_kernel") continue;
    const Row* triad = best_row([&](const Row& r) {
      return r.what == "block" && r.way == "triad" && r.block_x == row.block_x &&
             r.block_y == row.block_y;
    });
    std::printf("%5d x %2d %16s %16s\n", row.block_x, row.block_y, cell(&row).c_str(),
                cell(triad).c_str());
  }
  std::printf("\nBetween pageable or pinned memory of the host and the GPU (a byte counts once)\n");
  print_by_size("host", {"to_gpu_pageable", "to_gpu_pinned", "to_host_pageable", "to_host_pinned"},
                {"pageable to GPU", "pinned to GPU", "GPU to pageable", "GPU to pinned"});
  std::printf("\nRead again and again past L1: what L2 holds, and what it does not (L2: %s)\n",
              size_text(machine.properties.l2CacheSize).c_str());
  print_by_size("cache", {"l2_read", "l2_copy"}, {"read", "copy"});

  std::printf("\nThe ceilings, by the median\n");
  for (const Ceiling& ceiling : ceilings_of(machine)) {
    if (!ceiling.row) continue;
    std::printf("  %-8s %9.0f %-8s %s", ceiling.level, ceiling.row->median, ceiling.row->unit,
                ceiling.row->way.c_str());
    if (ceiling.row->bytes > 0) std::printf(", %s", size_text(ceiling.row->bytes).c_str());
    std::printf("\n");
  }
  if (machine.dram_peak > 0) {
    std::printf("  DRAM by its clock and bus width: %.0f GB/s\n", machine.dram_peak);
  }
}

void write_table(const std::string& results, const Machine& machine) {
  const cudaDeviceProp& gpu = machine.properties;
  std::string text = "# What this GPU can do at most, measured. Written by `make bandwidth`.\n";
  text += lab::format(
      "# date\t%s\n# gpu\t%s\n# compute_capability\t%d.%d\n# cuda\t%d.%d\n# driver\t%s\n",
      machine.date.c_str(), gpu.name, gpu.major, gpu.minor, CUDART_VERSION / 1000,
      CUDART_VERSION % 1000 / 10, machine.driver.c_str());
  text += lab::format("# multiprocessors\t%d\n# l2_bytes\t%d\n", gpu.multiProcessorCount,
                      gpu.l2CacheSize);
  if (machine.dram_peak > 0) {
    text += lab::format("# dram_peak_gb_per_s\t%.1f\tby\tclock and bus width\n", machine.dram_peak);
  }
  for (const Ceiling& ceiling : ceilings_of(machine)) {
    if (!ceiling.row) continue;
    text += lab::format("# ceiling\t%s\t%.1f\t%s\tby\t%s\tbytes\t%zu\n", ceiling.level,
                        ceiling.row->median, ceiling.row->unit, ceiling.row->way.c_str(),
                        ceiling.row->bytes);
  }
  text +=
      "what\tway\tn\tblock_x\tblock_y\tbytes\tsamples\tmin_us\tmedian_us\t"
      "rate_best\trate_median\tunit\n";
  for (const Row& row : rows) {
    text +=
        lab::format("%s\t%s\t%d\t%d\t%d\t%zu\t%zu\t%.3f\t%.3f\t%.6g\t%.6g\t%s\n", row.what.c_str(),
                    row.way.c_str(), row.n, row.block_x, row.block_y, row.bytes, row.samples,
                    row.min_us, row.median_us, row.best, row.median, row.unit);
  }
  lab::write_whole(results, "bandwidth.tsv", text);
  std::printf("\nwritten to %s/bandwidth.tsv\n", results.c_str());
}
