// expect: ERROR: AddressSanitizer: use-after-poison
// variant: asan
// exit: 1

#include <check.h>

__global__ void k_kernel(char* x) { x[threadIdx.x] = 1; }

int main() {
  char* x;
  CUDA_CHECK(cudaMalloc(&x, 33));
  k_kernel<<<1, 34>>>(x);
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
