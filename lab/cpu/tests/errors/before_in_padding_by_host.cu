// expect: host code, before the kernel launched at .*:@launch, wrote before the 40 bytes that
//         cudaMallocManaged gave at .*:@malloc

#include <check.h>

__global__ void k_kernel(int* x) { x[0] = 1; }

int main() {
  int* x;
  CUDA_CHECK(cudaMallocManaged(&x, 40));  // @malloc
  x[-3] = 1;
  k_kernel<<<1, 1>>>(x);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
