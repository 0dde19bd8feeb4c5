#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <cuda_runtime.h>

#include <lab/cuda_check.h>

constexpr int kWarmUps = 3;
constexpr int kSamples = 21;
constexpr int kAtLeast = 10;      // samples of what is slow,
constexpr double kSlowMs = 1000;  // which ends once it has taken this long

/// Times of `work` in milliseconds, sorted: CUDA events around each call, after some that warm up.
template <typename Work>
std::vector<double> sorted_times_ms(Work work) {
  cudaEvent_t begin, end;
  CUDA_CHECK(cudaEventCreate(&begin));
  CUDA_CHECK(cudaEventCreate(&end));
  std::vector<double> times;
  double total = 0;
  for (int sample = -kWarmUps; sample < kSamples; ++sample) {
    CUDA_CHECK(cudaEventRecord(begin));
    work();
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaEventRecord(end));
    CUDA_CHECK(cudaEventSynchronize(end));
    float ms = 0;
    CUDA_CHECK(cudaEventElapsedTime(&ms, begin, end));
    if (sample < 0 && ms > kSlowMs / kSamples)
      sample = -1;  // one warm-up is enough for what is slow
    if (sample < 0) continue;
    times.push_back(ms);
    total += ms;
    if (sample + 1 >= kAtLeast && total > kSlowMs) break;
  }
  CUDA_CHECK(cudaEventDestroy(begin));
  CUDA_CHECK(cudaEventDestroy(end));
  std::sort(times.begin(), times.end());
  return times;
}
