#include <cuda_on_cpu/device.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include <unistd.h>

#include <cuda_on_cpu/memory.h>
#include <cuda_on_cpu/program.h>
#include <cuda_on_cpu/stream.h>

#include "error.h"
#include "memory/memory.h"
#include "report.h"
#include "run/block.h"
#include "run/queue.h"
#include "settings.h"

namespace cuda_on_cpu {
namespace {

std::size_t shared_bytes = kSharedBytes;

/// What the program left undone; it ends now.
struct AtExit {
  ~AtExit() {
    if (const Report refused = refused_launch(); !refused.kind.empty()) {
      warn(refused, "the launch was refused (%s), but cudaGetLastError was never called",
           refused.detail.c_str());
    }
    const auto [count, first] = never_waited_for();
    // Where a call has failed, that is what the program has to say.
    if (count > 0 && !any_error()) {
      warn({"never_waited_for"},
           "the program ended without waiting for the work queued at %s%s, which was not done",
           text(first).c_str(), count > 1 ? " and after" : "");
    }
    if (!any_error() && report_growth() > 0) _exit(kExitFailed);
  }
} at_exit;

}  // namespace

std::size_t allowed_shared_bytes() { return shared_bytes; }

cudaError_t set_function_attribute(cudaFuncAttribute attribute, int value) {
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  if (value < 0 || static_cast<std::size_t>(value) > kSharedBytesOptIn) {
    return error(cudaErrorInvalidValue, "%d bytes of shared memory, but at most %zu are allowed",
                 value, kSharedBytesOptIn);
  }
  shared_bytes = std::max<std::size_t>(shared_bytes, value);
  return cudaSuccess;
}

cudaError_t resident_blocks(int* blocks, int block_size) {
  if (block_size < 1 || block_size > kMaxThreads) {
    return error(cudaErrorInvalidValue, "a block of %d threads", block_size);
  }
  *blocks = std::min(16, kThreadsPerMultiprocessor / block_size);
  return cudaSuccess;
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  return device == 0 ? cudaSuccess : error(cudaErrorInvalidDevice, "there is only device 0");
}
cudaError_t cudaDeviceReset(Where where) {
  if (auto e = cudaDeviceSynchronize()) return e;
  release_all(where);
  drop_handles();
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int device) {
  if (cudaError_t e = cudaSetDevice(device)) return e;
  *p = {};
  std::snprintf(p->name, sizeof p->name, "the CPU, instead of a GPU");
  std::size_t free_bytes;
  cudaMemGetInfo(&free_bytes, &p->totalGlobalMem);
  p->sharedMemPerBlock = kSharedBytes;
  p->sharedMemPerBlockOptin = p->sharedMemPerMultiprocessor = kSharedBytesOptIn;
  p->warpSize = 32;
  p->maxThreadsPerBlock = kMaxThreads;
  p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
  p->maxThreadsDim[2] = 64;
  p->maxGridSize[0] = 0x7fffffff;
  p->maxGridSize[1] = p->maxGridSize[2] = 65535;
  p->maxThreadsPerMultiProcessor = kThreadsPerMultiprocessor;
  p->multiProcessorCount = settings().multiprocessors;
  p->regsPerBlock = p->regsPerMultiprocessor = 65536;
  const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  p->l2CacheSize = cache > 0 ? static_cast<int>(cache) : 0;
  p->unifiedAddressing = p->managedMemory = p->concurrentManagedAccess = 1;
  p->cooperativeLaunch = p->concurrentKernels = p->asyncEngineCount = 1;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  cudaDeviceProp p;
  if (cudaError_t e = cudaGetDeviceProperties(&p, device)) return e;
  const std::pair<cudaDeviceAttr, int> values[] = {
      {cudaDevAttrMaxThreadsPerBlock, p.maxThreadsPerBlock},
      {cudaDevAttrMaxSharedMemoryPerBlock, static_cast<int>(p.sharedMemPerBlock)},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, static_cast<int>(p.sharedMemPerBlockOptin)},
      {cudaDevAttrWarpSize, p.warpSize},
      {cudaDevAttrMultiProcessorCount, p.multiProcessorCount},
      {cudaDevAttrL2CacheSize, p.l2CacheSize},
      {cudaDevAttrMaxThreadsPerMultiProcessor, p.maxThreadsPerMultiProcessor},
      {cudaDevAttrComputeCapabilityMajor, p.major},
      {cudaDevAttrComputeCapabilityMinor, p.minor},
      {cudaDevAttrConcurrentManagedAccess, 1},
      {cudaDevAttrCooperativeLaunch, 1},
  };
  for (const auto& [known, its_value] : values) {
    if (known == attribute) {
      *value = its_value;
      return cudaSuccess;
    }
  }
  return error(cudaErrorInvalidValue, "attribute %d", attribute);
}
