#include <cuda_on_cpu/device.h>

#include <algorithm>
#include <cstdio>

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
      warn(refused, "the launch was refused (" + refused.detail +
                        "), but cudaGetLastError was never called");
    }
    const auto [count, first] = never_waited_for();
    // Where a call has failed, that is what the program has to say.
    if (count > 0 && !any_error()) {
      warn({"never_waited_for"},
           joined("the program ended without waiting for the work queued at ", first,
                  count > 1 ? " and after" : "", ", which was not done"));
    }
    if (!any_error() && report_growth() > 0) _exit(kExitFailed);
  }
} at_exit;

}  // namespace

std::size_t allowed_shared_bytes() { return shared_bytes; }

cudaError_t set_function_attribute(cudaFuncAttribute attribute, int value) {
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  if (value < 0 || static_cast<std::size_t>(value) > kSharedBytesOptIn) {
    return error(cudaErrorInvalidValue, value, " bytes of shared memory, but at most ",
                 kSharedBytesOptIn, " are allowed");
  }
  shared_bytes = std::max<std::size_t>(shared_bytes, value);
  return cudaSuccess;
}

int resident_blocks(int block_size) { return std::min(16, kThreadsPerMultiprocessor / block_size); }

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

static cudaError_t answer(int* to, int value) {
  *to = value;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) { return answer(count, 1); }
cudaError_t cudaGetDevice(int* device) { return answer(device, 0); }
cudaError_t cudaSetDevice(int device) {
  return device == 0 ? cudaSuccess : error(cudaErrorInvalidDevice, "there is only device 0");
}
cudaError_t cudaDeviceReset(Where where) {
  if (auto e = cudaDeviceSynchronize()) return e;
  release_all(where);
  drop_handles();
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) { return answer(version, CUDART_VERSION); }
cudaError_t cudaRuntimeGetVersion(int* version) { return answer(version, CUDART_VERSION); }

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
  switch (attribute) {
#define ATTRIBUTE(name, number, property) \
  case name:                              \
    return answer(value, static_cast<int>(p.property));
    CUDA_ON_CPU_ATTRIBUTES(ATTRIBUTE)
  }
  return error(cudaErrorInvalidValue, "attribute ", static_cast<int>(attribute));
}
