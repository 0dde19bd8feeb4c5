#pragma once

#include <cuda_on_cpu/error.h>
#include <cuda_on_cpu/where.h>

#include <cstddef>

/// The one device: the CPU, which says of itself that it is one.
struct cudaDeviceProp {
  char name[256];
  std::size_t totalGlobalMem;
  std::size_t sharedMemPerBlock;
  std::size_t sharedMemPerBlockOptin;
  std::size_t sharedMemPerMultiprocessor;
  int warpSize;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  int maxThreadsPerMultiProcessor;
  int major, minor;
  int multiProcessorCount;
  int regsPerBlock, regsPerMultiprocessor;
  int l2CacheSize;
  int unifiedAddressing, managedMemory, concurrentManagedAccess, cooperativeLaunch;
  int asyncEngineCount, concurrentKernels;
};
// Single properties, with CUDA's numbers for them.
// clang-format off
#define CUDA_ON_CPU_ATTRIBUTES(A) \
  A(cudaDevAttrMaxThreadsPerBlock, 1, maxThreadsPerBlock) \
  A(cudaDevAttrMaxSharedMemoryPerBlock, 8, sharedMemPerBlock) \
  A(cudaDevAttrWarpSize, 10, warpSize) \
  A(cudaDevAttrMultiProcessorCount, 16, multiProcessorCount) \
  A(cudaDevAttrL2CacheSize, 38, l2CacheSize) \
  A(cudaDevAttrMaxThreadsPerMultiProcessor, 39, maxThreadsPerMultiProcessor) \
  A(cudaDevAttrComputeCapabilityMajor, 75, major) \
  A(cudaDevAttrComputeCapabilityMinor, 76, minor) \
  A(cudaDevAttrConcurrentManagedAccess, 89, concurrentManagedAccess) \
  A(cudaDevAttrCooperativeLaunch, 95, cooperativeLaunch) \
  A(cudaDevAttrMaxSharedMemoryPerBlockOptin, 97, sharedMemPerBlockOptin)
// clang-format on
#define CUDA_ON_CPU_ATTRIBUTE(name, number, property) name = number,
enum cudaDeviceAttr { CUDA_ON_CPU_ATTRIBUTES(CUDA_ON_CPU_ATTRIBUTE) };
#undef CUDA_ON_CPU_ATTRIBUTE
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9,
};

cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaRuntimeGetVersion(int* version);
/// Frees all memory, and destroys all streams, events and graphs. Variables of the device keep
/// their values.
cudaError_t cudaDeviceReset(CUDA_ON_CPU_CALLER);

namespace cuda_on_cpu {
cudaError_t set_function_attribute(cudaFuncAttribute attribute, int value);
int resident_blocks(int block_size);
}  // namespace cuda_on_cpu

/// Allows more than 48 KiB of dynamic shared memory; here for every kernel, not only for this one.
template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel*, cudaFuncAttribute attribute, int value) {
  return cuda_on_cpu::set_function_attribute(attribute, value);
}

/// How many blocks a cooperative launch may have on each of the device's multiprocessors.
template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel*, int block_size,
                                                          std::size_t /*shared_bytes*/) {
  *blocks = cuda_on_cpu::resident_blocks(block_size);
  return cudaSuccess;
}
