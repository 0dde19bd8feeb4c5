// The copy bandwidth of the GPU: what every step's time is told against.
//
// Copies arrays far larger than any cache, by the library (cudaMemcpy) and by a kernel with 16-byte
// loads and stores, and prints tab-separated lines: name, median GB/s, first and third quartile,
// samples. Bytes are counted as read plus written, 1 GB = 10^9 bytes; times are CUDA events around
// each copy.

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <vector>

#include <cuda_runtime.h>

#include <lab/cuda_check.h>

constexpr std::size_t kBytes = std::size_t{1} << 30;  // one array, at most; less on a small GPU
constexpr int kWarmUps = 3;
constexpr int kSamples = 21;
constexpr int kBlock = 256;

__global__ void copy_kernel(float4* __restrict__ to, const float4* __restrict__ from,
                            std::size_t count) {
  const std::size_t k = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (k < count) to[k] = from[k];
}

template <typename Copy>
void measure(const char* name, std::size_t bytes, Copy copy) {
  cudaEvent_t begin, end;
  CUDA_CHECK(cudaEventCreate(&begin));
  CUDA_CHECK(cudaEventCreate(&end));
  std::vector<double> rates;
  for (int sample = -kWarmUps; sample < kSamples; ++sample) {
    CUDA_CHECK(cudaEventRecord(begin));
    copy();
    CUDA_CHECK(cudaEventRecord(end));
    CUDA_CHECK(cudaEventSynchronize(end));
    float ms = 0;
    CUDA_CHECK(cudaEventElapsedTime(&ms, begin, end));
    if (sample >= 0) rates.push_back(2e-6 * bytes / ms);
  }
  CUDA_CHECK(cudaEventDestroy(begin));
  CUDA_CHECK(cudaEventDestroy(end));
  std::sort(rates.begin(), rates.end());
  std::printf("%s\t%.1f\t%.1f\t%.1f\t%d\n", name, rates[kSamples / 2], rates[kSamples / 4],
              rates[3 * kSamples / 4], kSamples);
}

int main() {
  lab::set_program_name("bandwidth");
  std::size_t free_bytes = 0, total_bytes = 0;
  CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
  const std::size_t bytes = std::min(kBytes, free_bytes / 4) / 4096 * 4096;
  int device = 0, driver = 0;
  cudaDeviceProp properties;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
  CUDA_CHECK(cudaDriverGetVersion(&driver));

  float4 *to, *from;
  CUDA_CHECK(cudaMalloc(&to, bytes));
  CUDA_CHECK(cudaMalloc(&from, bytes));
  CUDA_CHECK(cudaMemset(from, 0x3f, bytes));

  std::printf("gpu\t%s\n", properties.name);
  std::printf("compute_capability\t%d.%d\n", properties.major, properties.minor);
  std::printf("l2_bytes\t%d\n", properties.l2CacheSize);
  std::printf("cuda_runtime\t%d.%d\n", CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
  std::printf("driver_cuda\t%d.%d\n", driver / 1000, driver % 1000 / 10);
  measure("copy_library", bytes,
          [&] { CUDA_CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice)); });
  measure("copy_kernel", bytes, [&] {
    const std::size_t count = bytes / sizeof(float4);
    copy_kernel<<<static_cast<unsigned>((count + kBlock - 1) / kBlock), kBlock>>>(to, from, count);
    CUDA_CHECK(cudaGetLastError());
  });
  CUDA_CHECK(cudaFree(to));
  CUDA_CHECK(cudaFree(from));
}
