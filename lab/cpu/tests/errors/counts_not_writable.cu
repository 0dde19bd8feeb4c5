// expect: LAB_CPU_COUNTS=/nowhere/counts.tsv: cannot be written
// variant: watched
// env: LAB_CPU_COUNTS=/nowhere/counts.tsv
// exit: 4

#include <check.h>

__global__ void k_kernel(int* x) { x[threadIdx.x] = 1; }

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 4000));  // @malloc
  CUDA_CHECK(cudaMemset(x, 0, 4000));
  k_kernel<<<1, 64>>>(x);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
