// expect: race_device_variable.cu:@add: race in global memory:
// variant: watched

#include <check.h>

__device__ int sum = 0;

__global__ void k_kernel(int* x) {
  sum += x[threadIdx.x];  // @add
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 4000));  // @malloc
  CUDA_CHECK(cudaMemset(x, 0, 4000));
  k_kernel<<<1, 64>>>(x);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
