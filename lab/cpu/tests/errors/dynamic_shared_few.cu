// expect: dynamic_shared_few.cu:@store: writes byte 480 of the dynamic shared memory, but the
//         launch gives 400 bytes of it

#include <check.h>

__global__ void k_kernel(int* x) {
  extern __shared__ int a[];
  a[40 * threadIdx.x] = x[threadIdx.x];  // @store
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 4000));
  CUDA_CHECK(cudaMemset(x, 0, 4000));
  k_kernel<<<1, 400, 400>>>(x);
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
