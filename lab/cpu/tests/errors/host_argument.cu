// expect: host_argument.cu:@launch: argument 3 of the launch points to no memory that a kernel can
//         use: take memory from cudaMalloc or cudaMallocManaged

#include <check.h>

__global__ void k_kernel(int* x, int n, const int* y) { x[0] = n + y[0]; }

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 40));  // @malloc
  int y[10] = {};
  k_kernel<<<1, 1>>>(x, 5, y);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
