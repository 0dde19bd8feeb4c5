// expect: dynamic_shared_past_end.cu:@store: writes byte 128 of the dynamic shared memory,
//         but the launch gives 128 bytes of it
// variant: watched

#include <check.h>

__global__ void k_kernel(int* x) {
  extern __shared__ int a[];
  a[threadIdx.x] = x[threadIdx.x];  // @store
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 4000));  // @malloc
  CUDA_CHECK(cudaMemset(x, 0, 4000));
  k_kernel<<<1, 33, 32 * sizeof(int)>>>(x);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
