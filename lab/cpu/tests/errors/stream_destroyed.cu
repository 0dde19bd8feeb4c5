// expect: stream_destroyed.cu:@load: host code reads byte 0 of the 40 bytes that
//         cudaMallocManaged gave at line @malloc, and the kernel launched at line @launch may not
//         have ended: wait for it

#include <check.h>

__global__ void set_kernel(int* x) { x[threadIdx.x] = 1; }

int main() {
  int* x;
  cudaStream_t stream;
  CUDA_CHECK(cudaStreamCreate(&stream));
  CUDA_CHECK(cudaMallocManaged(&x, 40));  // @malloc
  set_kernel<<<1, 10, 0, stream>>>(x);    // @launch
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaStreamDestroy(stream));
  return x[0];  // @load
}
