// What the device says of itself; what wrong calls return, and how errors are remembered.

#include "check.h"

#include <cstring>
#include <string>

__global__ void nothing_kernel() {}
__global__ void pointer_kernel(int*) {}

// CUDA 13.0 on a GPU calls a bad configuration an invalid value.
bool is(cudaError_t returned, cudaError_t error) {
#ifndef __CUDA_ON_CPU__
  if (error == cudaErrorInvalidConfiguration && returned == cudaErrorInvalidValue) return true;
#endif
  return returned == error;
}

/// The call returns this error, as does cudaGetLastError. After the error's own words the CPU
/// says, in brackets, what exactly is wrong.
#define FAILS(error, detail, ...)                                                 \
  do {                                                                            \
    const cudaError_t returned = (__VA_ARGS__);                                   \
    check(is(returned, error), #__VA_ARGS__ ": not " #error, __FILE__, __LINE__); \
    CHECK_EQUAL(cudaPeekAtLastError(), returned);                                 \
    check_detail(detail, #__VA_ARGS__, __LINE__);                                 \
    CHECK_EQUAL(cudaGetLastError(), returned);                                    \
    CHECK_EQUAL(cudaGetLastError(), cudaSuccess);                                 \
  } while (false)

void check_detail([[maybe_unused]] const char* detail, [[maybe_unused]] const char* call,
                  [[maybe_unused]] int line) {
#ifdef __CUDA_ON_CPU__
  const std::string text = cudaGetErrorString(cudaPeekAtLastError());
  const size_t bracket = text.find(" (");
  if (bracket != text.npos && text.substr(bracket).find(detail) != text.npos) return;
  ++failed_checks;
  std::printf("%s:%d: %s: says %s, and nothing of %s\n", __FILE__, line, call, text.c_str(),
              detail);
#endif
}

template <class... Config>
cudaError_t launch(dim3 grid, dim3 block, size_t bytes = 0) {
  nothing_kernel<<<grid, block, bytes>>>();
  return cudaPeekAtLastError();
}

void configurations() {
  CHECK_EQUAL(launch(dim3(2, 65535), 1), cudaSuccess);
  CHECK_EQUAL(launch(2, 1024), cudaSuccess);
  CHECK_EQUAL(launch(1, dim3(1, 16, 64), 48 * 1024), cudaSuccess);
  FAILS(cudaErrorInvalidConfiguration, "1025 x 1 x 1 = 1025 threads, but at most 1024",
        launch(1, 1025));
  FAILS(cudaErrorInvalidConfiguration, "33 x 32 x 1 = 1056 threads", launch(1, dim3(33, 32)));
  FAILS(cudaErrorInvalidConfiguration, "1 x 2000 x 1", launch(1, dim3(1, 2000)));
  FAILS(cudaErrorInvalidConfiguration, "65 threads deep, but at most 64",
        launch(1, dim3(1, 1, 65)));
  FAILS(cudaErrorInvalidConfiguration, "grid is 0 x 1 x 1", launch(0, 32));
  FAILS(cudaErrorInvalidConfiguration, "1 x 1 x 1 blocks of 32 x 0 x 1", launch(1, dim3(32, 0)));
  FAILS(cudaErrorInvalidConfiguration, "1 x 65536 x 1 blocks", launch(dim3(1, 65536), 1));
  FAILS(cudaErrorInvalidConfiguration, "1 x 1 x 70000 blocks", launch(dim3(1, 1, 70000), 1));
  FAILS(cudaErrorInvalidConfiguration, "2147483648 x 1 x 1", launch(dim3(1u << 31), 1));
  FAILS(cudaErrorInvalidValue,
        "49153 bytes of shared memory, but at most 49152 are allowed without",
        launch(1, 1, 48 * 1024 + 1));
  FAILS(cudaErrorInvalidValue, "but at most 232448 are allowed",
        cudaFuncSetAttribute(nothing_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20));
  CUDA(cudaDeviceSynchronize());

  void* none[] = {nullptr};
  FAILS(cudaErrorCooperativeLaunchTooLarge, "1000000 blocks, but only ",
        cudaLaunchCooperativeKernel(nothing_kernel, 1000000, 1024, none));
}

void memory() {
  int *a, *b, host[10];
  CUDA(cudaMalloc(&a, 40));
  CUDA(cudaMalloc(&b, 40));
  FAILS(cudaErrorMemoryAllocation, "GB asked for", cudaMalloc(&b, size_t{1} << 50));
  FAILS(cudaErrorInvalidValue, "no pointer", cudaMalloc(static_cast<int**>(nullptr), 40));
  FAILS(cudaErrorInvalidValue, "byte 4 of the 40 bytes", cudaFree(a + 1));
  FAILS(cudaErrorInvalidValue, "nothing was allocated", cudaFree(host));
#ifdef __CUDA_ON_CPU__
  // A GPU may let these pass, or fail otherwise.
  FAILS(cudaErrorInvalidValue, "the source is device memory, but the direction says host",
        cudaMemcpy(host, a, 40, cudaMemcpyHostToHost));
  FAILS(cudaErrorInvalidValue,
        "the destination is no memory of the GPU, but the direction says device",
        cudaMemcpy(host, a, 40, cudaMemcpyDeviceToDevice));
  FAILS(cudaErrorInvalidValue, "the destination is device memory, but the direction says host",
        cudaMemcpy(a, b, 40, cudaMemcpyDeviceToHost));
  FAILS(cudaErrorInvalidValue, "the source is no memory of the GPU, but the direction says device",
        cudaMemcpy(host, host + 1, 4, cudaMemcpyDeviceToHost));
  FAILS(cudaErrorInvalidValue, "44 bytes, but the destination has room for only 40",
        cudaMemcpy(a, host, 44, cudaMemcpyHostToDevice));
  FAILS(cudaErrorInvalidValue, "40 bytes, but the source has room for only 36",
        cudaMemcpyAsync(host, a + 1, 40, cudaMemcpyDefault));
  FAILS(cudaErrorInvalidValue, "44 bytes, but the destination has room for only 40",
        cudaMemset(a, 0, 44));
  FAILS(cudaErrorInvalidValue, "no memory of the GPU", cudaMemset(host, 0, 4));
  FAILS(cudaErrorInvalidValue, "are not managed memory", cudaMemPrefetchAsync(a, 40, 0));
  static int symbol[4];
  FAILS(cudaErrorInvalidValue, "12 bytes at byte 8, but the symbol has only 16",
        cudaMemcpyToSymbol(symbol, host, 12, 8));
#endif
  CUDA(cudaFree(a));
  FAILS(cudaErrorInvalidValue, "freed already at devices_and_errors.cu:", cudaFree(a));
  CUDA(cudaFree(b));
#ifdef __CUDA_ON_CPU__
  FAILS(cudaErrorInvalidValue, "the destination was freed at devices_and_errors.cu:",
        cudaMemcpy(a, host, 40, cudaMemcpyHostToDevice));
  int* pinned;
  CUDA(cudaMallocHost(&pinned, 40));
  FAILS(cudaErrorInvalidValue, "memory of cudaMallocHost needs cudaFreeHost", cudaFree(pinned));
  CUDA(cudaFreeHost(pinned));
  CUDA(cudaMallocManaged(&a, 40));
  FAILS(cudaErrorInvalidValue, "memory of cudaMallocManaged needs cudaFree", cudaFreeHost(a));
  CUDA(cudaFree(a));
#endif
}

void streams() {
  cudaEvent_t start, end;
  CUDA(cudaEventCreate(&start));
  CUDA(cudaEventCreate(&end));
  float ms;
  FAILS(cudaErrorInvalidResourceHandle, "not recorded", cudaEventElapsedTime(&ms, start, end));
  CUDA(cudaEventDestroy(start));
  CUDA(cudaEventDestroy(end));
#ifdef __CUDA_ON_CPU__
  cudaStream_t stream;
  CUDA(cudaStreamCreate(&stream));
  CUDA(cudaStreamDestroy(stream));
  FAILS(cudaErrorInvalidResourceHandle, "no such stream", cudaStreamSynchronize(stream));
  nothing_kernel<<<1, 1, 0, stream>>>();
  FAILS(cudaErrorInvalidResourceHandle, "no such stream", cudaPeekAtLastError());
  FAILS(cudaErrorInvalidResourceHandle, "null event", cudaEventRecord(nullptr, nullptr));
  FAILS(cudaErrorInvalidResourceHandle, "null event", cudaEventSynchronize(nullptr));
  FAILS(cudaErrorInvalidResourceHandle, "null event", cudaEventQuery(nullptr));
  FAILS(cudaErrorInvalidResourceHandle, "null event", cudaEventElapsedTime(&ms, nullptr, nullptr));
  FAILS(cudaErrorInvalidResourceHandle, "null event", cudaStreamWaitEvent(nullptr, nullptr, 0));
  FAILS(cudaErrorInvalidResourceHandle, "null event", cudaEventDestroy(nullptr));
#endif
}

void last_error() {
  CHECK_EQUAL(cudaGetLastError(), cudaSuccess);
  CHECK_EQUAL(cudaSetDevice(9999), cudaErrorInvalidDevice);
  // A call that succeeds does not wipe it out, nor does a launch; only asking for it does.
  CUDA(cudaDeviceSynchronize());
  nothing_kernel<<<1, 1>>>();
  CHECK_EQUAL(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  CHECK_EQUAL(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  CHECK_EQUAL(cudaGetLastError(), cudaErrorInvalidDevice);
  CHECK_EQUAL(cudaPeekAtLastError(), cudaSuccess);
  // The later one counts.
  CHECK_EQUAL(cudaSetDevice(9999), cudaErrorInvalidDevice);
  const cudaError_t refused = launch(1, 5000);
  CHECK(is(refused, cudaErrorInvalidConfiguration));
  CHECK_EQUAL(cudaGetLastError(), refused);
  // A launch that was refused leaves nothing behind.
  CUDA(cudaDeviceSynchronize());

  const auto same = [](const char* a, const char* b) { return std::strcmp(a, b) == 0; };
  CHECK(same(cudaGetErrorName(cudaSuccess), "cudaSuccess"));
  CHECK(same(cudaGetErrorString(cudaSuccess), "no error"));
  CHECK(same(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue"));
  CHECK(same(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument"));
  CHECK(same(cudaGetErrorName(cudaErrorNotReady), "cudaErrorNotReady"));
  CHECK(same(cudaGetErrorName(static_cast<cudaError_t>(12345)), "unrecognized error code"));
  CHECK(std::string(cudaGetErrorString(cudaErrorMemoryAllocation)).find("out of memory") == 0);
  for (const cudaError_t error :
       {cudaErrorInsufficientDriver, cudaErrorNoDevice, cudaErrorIllegalAddress,
        cudaErrorMisalignedAddress, cudaErrorLaunchFailure, cudaErrorUnknown}) {
    CHECK(!same(cudaGetErrorName(error), "unrecognized error code"));
    CHECK(!same(cudaGetErrorString(error), "unrecognized error code"));
  }
}

void device() {
  int count = 0, current = -1, value = 0, driver = 0, runtime = 0;
  CUDA(cudaGetDeviceCount(&count));
  CHECK(count >= 1);
  CUDA(cudaSetDevice(0));
  CUDA(cudaGetDevice(&current));
  CHECK_EQUAL(current, 0);
  CUDA(cudaDriverGetVersion(&driver));
  CUDA(cudaRuntimeGetVersion(&runtime));
  CHECK(driver >= 11000 && runtime == CUDART_VERSION);

  cudaDeviceProp p;
  CUDA(cudaGetDeviceProperties(&p, 0));
  CHECK(std::strlen(p.name) > 0 && p.totalGlobalMem > 0);
  CHECK(p.warpSize == 32 && p.maxThreadsPerBlock == 1024);
  CHECK(p.maxThreadsDim[0] == 1024 && p.maxThreadsDim[1] == 1024 && p.maxThreadsDim[2] == 64);
  CHECK(p.maxGridSize[0] == 2147483647 && p.maxGridSize[1] == 65535 && p.maxGridSize[2] == 65535);
  CHECK(p.sharedMemPerBlock == 48 * 1024 && p.sharedMemPerBlockOptin >= 48 * 1024);
  CHECK(p.multiProcessorCount > 0 && p.maxThreadsPerMultiProcessor >= 1024);
  CHECK(p.managedMemory == 1 && p.concurrentManagedAccess == 1 && p.cooperativeLaunch == 1);

  const auto attribute = [&](cudaDeviceAttr which) {
    CUDA(cudaDeviceGetAttribute(&value, which, 0));
    return value;
  };
  CHECK_EQUAL(attribute(cudaDevAttrWarpSize), 32);
  CHECK_EQUAL(attribute(cudaDevAttrMaxThreadsPerBlock), 1024);
  CHECK_EQUAL(attribute(cudaDevAttrMultiProcessorCount), p.multiProcessorCount);
  CHECK_EQUAL(attribute(cudaDevAttrMaxSharedMemoryPerBlock), 48 * 1024);
  CHECK_EQUAL(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin), p.sharedMemPerBlockOptin);
  CHECK_EQUAL(attribute(cudaDevAttrComputeCapabilityMajor), p.major);
  CHECK_EQUAL(attribute(cudaDevAttrL2CacheSize), p.l2CacheSize);

  int blocks = 0;
  CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing_kernel, 1024, 0));
  CHECK(blocks >= 1);
}

int main() {
  device();
  configurations();
  memory();
  streams();
  last_error();
  return result();
}
