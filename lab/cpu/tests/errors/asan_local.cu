// expect: ERROR: AddressSanitizer: stack-buffer-overflow
// variant: asan
// exit: 1

#include <check.h>

__global__ void k_kernel(int* x, int n) {
  int local[8] = {};
  int other[8] = {};
  for (int k = 0; k <= n; ++k) local[k] = x[k];
  for (int k = 0; k < n; ++k) x[k] = local[k] + other[n - 1 - k];
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 4000));  // @malloc
  CUDA_CHECK(cudaMemset(x, 0, 4000));
  k_kernel<<<1, 32>>>(x, 8);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
