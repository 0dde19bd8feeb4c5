// After cudaDeviceReset all is as at the program's beginning: nothing is left over, and what is
// allocated and created then works.

#include "check.h"

__global__ void set_kernel(int* x, int value) { *x = value; }

void use() {
  Array<int> x(1);
  cudaStream_t stream;
  cudaEvent_t event;
  CUDA(cudaStreamCreate(&stream));
  CUDA(cudaEventCreate(&event));
  set_kernel<<<1, 1, 0, stream>>>(x.data(), 5);
  LAUNCHED();
  CUDA(cudaEventRecord(event, stream));
  CUDA(cudaEventSynchronize(event));
  CHECK_EQUAL(x[0], 5);
  CUDA(cudaEventDestroy(event));
  CUDA(cudaStreamDestroy(stream));
}

int main() {
  CUDA(cudaDeviceReset());
  use();
  int *forgotten, *pinned;
  cudaStream_t stream;
  cudaEvent_t event;
  CUDA(cudaMalloc(&forgotten, 400));
  CUDA(cudaMallocHost(&pinned, 400));
  CUDA(cudaStreamCreate(&stream));
  CUDA(cudaEventCreate(&event));
  CUDA(cudaDeviceReset());
  CHECK(cudaFree(forgotten) == cudaErrorInvalidValue);
  CHECK(cudaFreeHost(pinned) == cudaErrorInvalidValue);
  CHECK(cudaStreamSynchronize(stream) == cudaErrorInvalidResourceHandle);
  (void)cudaGetLastError();
  use();
  CUDA(cudaDeviceReset());
  return result();
}
