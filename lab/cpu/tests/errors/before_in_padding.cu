// expect: the kernel launched at .*:@launch wrote before the 40 bytes that cudaMalloc gave at
//         .*:@malloc

#include <check.h>

__global__ void k_kernel(int* x) { x[-3] = 1; }

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 40));  // @malloc
  k_kernel<<<1, 1>>>(x);           // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
