// expect: ERROR: AddressSanitizer: (use-after-poison|unknown-crash)
// variant: asan
// exit: 1

#include <check.h>

__global__ void k_kernel(int* x) {
  __shared__ int a[31], b[31];
  b[threadIdx.x % 31] = 1;
  a[threadIdx.x] = x[threadIdx.x];
  x[threadIdx.x] = a[30 - threadIdx.x % 31] + b[0];
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 4000));  // @malloc
  CUDA_CHECK(cudaMemset(x, 0, 4000));
  k_kernel<<<1, 32>>>(x);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
