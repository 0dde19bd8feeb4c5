#pragma once

#include <cuda_runtime_api.h>
#include <lab/cuda_check.h>
#include <lab/problem.h>
#include <lab/run.h>

#include <cstddef>

namespace lab {

/// How many bytes of that much free GPU memory fields may take: kernels also need some, for
/// their code and their stacks.
inline std::size_t usable_gpu_memory(std::size_t free_bytes) {
  const std::size_t reserve = std::size_t{64} << 20;
  return free_bytes > reserve ? free_bytes - reserve : 0;
}

/// Ends the program if bytes_per_point * n * n bytes do not fit in the GPU's free memory (exit
/// code 5, naming the largest n that does) or if there is no usable GPU (77). Often the
/// program's first CUDA call, and so the one that pays for CUDA's start-up.
/// (Managed memory may be larger than the GPU's; the lab refuses that: it would measure migration.)
inline void require_gpu_memory(int n, std::size_t bytes_per_point) {
  std::size_t free_bytes = 0, total_bytes = 0;
  CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
  int device = 0;
  cudaDeviceProp properties;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
  set_device(properties.name, !kOnCpu);

  const std::size_t usable = usable_gpu_memory(free_bytes);
  const std::size_t needed = bytes_per_point * n * n;
  if (needed > usable) {
    fail(kExitDoesNotFit,
         "n = %d needs %.1f GB of GPU memory, and %s has %.1f GB free: the largest n that fits is "
         "%d",
         n, 1e-9 * needed, properties.name, 1e-9 * free_bytes, largest_n(usable, bytes_per_point));
  }
}

/// How many multiprocessors the GPU has.
inline int multiprocessors() {
  int device = 0, count = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
  return count;
}

/// A field's starting values for kernels: the boundary's, computed on the host, in the GPU's memory
/// for as long as this object lives. What ends it waits for the kernels that read them.
class StartOnGpu {
 public:
  explicit StartOnGpu(const StartingField& start) {
    const std::size_t bytes = start.boundary.size() * sizeof(float);
    CUDA_CHECK(cudaMalloc(&memory_, bytes));
    CUDA_CHECK(cudaMemcpy(memory_, start.boundary.data(), bytes, cudaMemcpyHostToDevice));
    value_ = start.with_boundary_at(memory_);
  }
  ~StartOnGpu() { CUDA_CHECK(cudaFree(memory_)); }
  StartOnGpu(const StartOnGpu&) = delete;
  StartOnGpu& operator=(const StartOnGpu&) = delete;

  /// value()(i, j) in a kernel is what start(i, j) is on the host.
  const StartingValue& value() const { return value_; }

 private:
  float* memory_ = nullptr;
  StartingValue value_{};
};

}  // namespace lab
