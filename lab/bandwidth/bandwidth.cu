// What the GPU can do at most: what every step's time is told against.
//
// Without options, for the programs that need one number: copies arrays far larger than any cache,
// by the library (cudaMemcpy) and by a kernel with 16-byte loads and stores, and prints lines with
// tabs: name, median GB/s, first and third quartile, samples. With --results all that `make
// bandwidth` shows: ceilings.cu. Bytes are counted as read plus written, 1 GB = 10^9 bytes; times
// are CUDA events around each copy.

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include <lab/command_line.h>
#include <lab/cuda_check.h>
#include <lab/quantile.h>

#include "bandwidth.h"

constexpr std::size_t kBytes = std::size_t{1} << 30;  // one array, at most; less on a small GPU

constexpr const char* kHelp =
    "bandwidth: the copy bandwidth of the GPU, as tab-separated lines\n"
    "bandwidth --results DIR: copies of many sizes and launch shapes, transfers between host and\n"
    "    GPU, the caches, arithmetic; as tables, and as DIR/bandwidth.tsv\n\n"
    "  --help               print this\n\n"
    "exit codes: 0 measured, 2 bad usage, 3 a CUDA error or (--results) a wrong result,\n"
    "            4 cannot write, 5 does not fit in memory, 77 no usable GPU\n";

template <typename Copy>
void measure(const char* name, std::size_t bytes, Copy copy) {
  const std::vector<double> times = sorted_times_ms(copy);
  auto rate = [&](double q) { return 2e-6 * bytes / lab::quantile(times, q); };
  // The longer the time, the lower the rate.
  std::printf("%s\t%.1f\t%.1f\t%.1f\t%zu\n", name, rate(0.5), rate(0.75), rate(0.25), times.size());
}

void measure_copy() {
  std::size_t free_bytes = 0, total_bytes = 0;
  CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
  const std::size_t bytes = std::min(kBytes, free_bytes / 4) / 4096 * 4096;
  int device = 0, gpus = 0;
  cudaDeviceProp properties;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
  CUDA_CHECK(cudaGetDeviceCount(&gpus));

  float4 *to, *from;
  CUDA_CHECK(cudaMalloc(&to, bytes));
  CUDA_CHECK(cudaMalloc(&from, bytes));
  CUDA_CHECK(cudaMemset(from, 0x3f, bytes));

  std::printf("gpu\t%s\n", properties.name);
  std::printf("gpus\t%d\n", gpus);
  std::printf("compute_capability\t%d.%d\n", properties.major, properties.minor);
  std::printf("l2_bytes\t%d\n", properties.l2CacheSize);
  std::printf("cuda_runtime\t%d.%d\n", CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
  measure("copy_library", bytes,
          [&] { CUDA_CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice)); });
  measure("copy_kernel", bytes, [&] { copy_by_float4(to, from, bytes / sizeof(float4)); });
  CUDA_CHECK(cudaFree(to));
  CUDA_CHECK(cudaFree(from));
}

int main(int argc, char** argv) {
  std::string results;
  lab::CommandLine line("bandwidth", kHelp);
  line.path("--results", &results);
  line.read(argc, argv);
  if (results.empty()) {
    measure_copy();
  } else {
    measure_ceilings(results);
  }
}
