#pragma once

#include <cuda_on_cpu/error.h>
#include <cuda_on_cpu/stream.h>
#include <cuda_on_cpu/where.h>

#include <cstddef>

enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault,
};
enum : unsigned { cudaMemAttachGlobal = 1, cudaMemAttachHost = 2 };
enum : unsigned { cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2 };
enum { cudaCpuDeviceId = -1, cudaInvalidDeviceId = -2 };
enum cudaMemLocationType {
  cudaMemLocationTypeInvalid = 0,
  cudaMemLocationTypeDevice = 1,
  cudaMemLocationTypeHost = 2,
};
struct cudaMemLocation {
  cudaMemLocationType type;
  int id;
};
enum cudaMemoryAdvise {
  cudaMemAdviseSetReadMostly = 1,
  cudaMemAdviseUnsetReadMostly = 2,
  cudaMemAdviseSetPreferredLocation = 3,
  cudaMemAdviseUnsetPreferredLocation = 4,
  cudaMemAdviseSetAccessedBy = 5,
  cudaMemAdviseUnsetAccessedBy = 6,
};

namespace cuda_on_cpu {

enum class Space { device, managed, pinned };

/// All new memory is filled with NaN (bytes 0xff), so that a value that was never written shows. It
/// ends at a page that cannot be touched.
cudaError_t allocate(void** pointer, std::size_t bytes, Space space, Where where,
                     const char* call = nullptr);

/// Waits for all work, as cudaFree does. The addresses are not given out again.
cudaError_t release(void* pointer, bool pinned, Where where);

cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                 cudaStream_t stream, bool wait, Where where);
/// With `wait`, memory that the host can use too is filled when the call returns, as in CUDA.
cudaError_t fill(void* to, int value, std::size_t bytes, cudaStream_t stream, bool wait,
                 Where where);

/// For prefetch and advice: nothing happens, but the range must be managed memory.
cudaError_t check_managed(const void* pointer, std::size_t bytes);

/// A __device__ or __constant__ variable: memory of the device with a name.
cudaError_t copy_symbol(void* to, const void* from, std::size_t bytes, std::size_t offset,
                        std::size_t size_of_symbol);

}  // namespace cuda_on_cpu

template <class T>
cudaError_t cudaMalloc(T** pointer, std::size_t bytes, CUDA_ON_CPU_CALLER) {
  return cuda_on_cpu::allocate((void**)pointer, bytes, cuda_on_cpu::Space::device, where);
}
/// Rows of `width` bytes, each of which begins at a multiple of 512: `pitch` is the distance
/// between two.
template <class T>
cudaError_t cudaMallocPitch(T** pointer, std::size_t* pitch, std::size_t width, std::size_t height,
                            CUDA_ON_CPU_CALLER) {
  constexpr std::size_t kRowAlignment = 512;
  *pitch = (width + kRowAlignment - 1) / kRowAlignment * kRowAlignment;
  return cuda_on_cpu::allocate((void**)pointer, *pitch * height, cuda_on_cpu::Space::device, where,
                               "cudaMallocPitch");
}
template <class T>
cudaError_t cudaMallocManaged(T** pointer, std::size_t bytes, unsigned = cudaMemAttachGlobal,
                              CUDA_ON_CPU_CALLER) {
  return cuda_on_cpu::allocate((void**)pointer, bytes, cuda_on_cpu::Space::managed, where);
}
template <class T>
cudaError_t cudaMallocHost(T** pointer, std::size_t bytes, unsigned = cudaHostAllocDefault,
                           CUDA_ON_CPU_CALLER) {
  return cuda_on_cpu::allocate((void**)pointer, bytes, cuda_on_cpu::Space::pinned, where);
}
template <class T>
cudaError_t cudaHostAlloc(T** pointer, std::size_t bytes, unsigned, CUDA_ON_CPU_CALLER) {
  return cuda_on_cpu::allocate((void**)pointer, bytes, cuda_on_cpu::Space::pinned, where,
                               "cudaHostAlloc");
}
inline cudaError_t cudaFree(void* pointer, CUDA_ON_CPU_CALLER) {
  return cuda_on_cpu::release(pointer, false, where);
}
inline cudaError_t cudaFreeHost(void* pointer, CUDA_ON_CPU_CALLER) {
  return cuda_on_cpu::release(pointer, true, where);
}

inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                              CUDA_ON_CPU_CALLER) {
  return cuda_on_cpu::copy(to, from, bytes, kind, nullptr, true, where);
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes,
                                   cudaMemcpyKind kind, cudaStream_t stream = nullptr,
                                   CUDA_ON_CPU_CALLER) {
  return cuda_on_cpu::copy(to, from, bytes, kind, stream, false, where);
}
/// Copies `height` rows of `width` bytes, which begin a pitch apart on either side.
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind,
                         CUDA_ON_CPU_CALLER);
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream = nullptr,
                              CUDA_ON_CPU_CALLER);
inline cudaError_t cudaMemset(void* to, int value, std::size_t bytes, CUDA_ON_CPU_CALLER) {
  return cuda_on_cpu::fill(to, value, bytes, nullptr, true, where);
}
inline cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes,
                                   cudaStream_t stream = nullptr, CUDA_ON_CPU_CALLER) {
  return cuda_on_cpu::fill(to, value, bytes, stream, false, where);
}

/// Free and total bytes of the host's memory: it is the device's.
cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes);

// Both signatures: CUDA 12 names a device, CUDA 13 a location.
inline cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, int,
                                        cudaStream_t = nullptr) {
  return cuda_on_cpu::check_managed(pointer, bytes);
}
inline cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, cudaMemLocation,
                                        unsigned, cudaStream_t = nullptr) {
  return cuda_on_cpu::check_managed(pointer, bytes);
}
inline cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise, int) {
  return cuda_on_cpu::check_managed(pointer, bytes);
}
inline cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise,
                                 cudaMemLocation) {
  return cuda_on_cpu::check_managed(pointer, bytes);
}

template <class T>
cudaError_t cudaMemcpyToSymbol(T& symbol, const void* from, std::size_t bytes,
                               std::size_t offset = 0, cudaMemcpyKind = cudaMemcpyHostToDevice) {
  return cuda_on_cpu::copy_symbol((char*)&symbol + offset, from, bytes, offset, sizeof symbol);
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, std::size_t bytes,
                                 std::size_t offset = 0, cudaMemcpyKind = cudaMemcpyDeviceToHost) {
  return cuda_on_cpu::copy_symbol(to, (const char*)&symbol + offset, bytes, offset, sizeof symbol);
}
