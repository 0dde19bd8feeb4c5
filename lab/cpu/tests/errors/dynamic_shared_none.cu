// expect: dynamic_shared_none.cu:@store: writes byte 0 of the dynamic shared memory, but the launch
//         gives 0 bytes of it, the value after its grid and its block \(kernel launched at line
//         @launch, block \(0,0,0\), thread \(0,0,0\)\)

#include <check.h>

__global__ void k_kernel(int* x) {
  extern __shared__ int a[];
  a[threadIdx.x] = x[threadIdx.x];  // @store
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 4000));
  CUDA_CHECK(cudaMemset(x, 0, 4000));
  k_kernel<<<1, 32>>>(x);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
