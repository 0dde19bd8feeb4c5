// expect: the kernel launched at .*:@launch wrote past the end of the 40 bytes that cudaMalloc
//         gave at .*:@malloc

#include <check.h>

__global__ void k_kernel(int* x) { x[10] = 1; }

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 40));  // @malloc
  k_kernel<<<1, 1>>>(x);           // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
