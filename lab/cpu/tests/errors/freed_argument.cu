// expect: freed_argument.cu:@launch: argument 2 of the launch points to memory that was freed at
//         line @free

#include <check.h>

__global__ void k_kernel(int* x, int* y) { x[0] = y[0]; }

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 40));  // @malloc
  int* y;
  CUDA_CHECK(cudaMalloc(&y, 80));
  CUDA_CHECK(cudaFree(y));   // @free
  k_kernel<<<1, 1>>>(x, y);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
