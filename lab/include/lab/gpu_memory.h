#pragma once

#include <cuda_runtime_api.h>
#include <lab/cuda_check.h>
#include <lab/run.h>

#include <cstddef>

namespace lab {

/// Ends the program where bytes_per_point * n * n bytes do not fit in the GPU's free memory (exit
/// code 5, naming the largest n that does) or where there is no usable GPU (77). Often the
/// program's first CUDA call, and so the one that pays for CUDA's start-up.
/// (Managed memory may be larger than the GPU's; the lab refuses that: it would measure migration.)
inline void require_gpu_memory(int n, std::size_t bytes_per_point) {
  std::size_t free_bytes = 0, total_bytes = 0;
  CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
  int device = 0;
  cudaDeviceProp properties;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
#ifdef __CUDA_ON_CPU__
  set_device(properties.name, false);
#else
  set_device(properties.name);
#endif

  // Kernels need some memory too: their code, their stacks.
  const std::size_t reserve = std::size_t{64} << 20;
  const std::size_t usable = free_bytes > reserve ? free_bytes - reserve : 0;
  const std::size_t needed = bytes_per_point * n * n;
  if (needed > usable) {
    fail(kExitDoesNotFit,
         "n = %d needs %.1f GB of GPU memory, and %s has %.1f GB free: the largest n that fits is "
         "%d",
         n, 1e-9 * needed, properties.name, 1e-9 * free_bytes, largest_n(usable, bytes_per_point));
  }
}

}  // namespace lab
