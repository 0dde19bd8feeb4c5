// expect: strict_same_value.cu:@store: race in global memory: thread \([0-9]+,0,0\) writes what
//         thread \([0-9]+,0,0\) of block \([0-9],0,0\) wrote at line @store, with no order
// env: LAB_CPU_STRICT=1
// variant: watched

#include <check.h>

// Blocks have points in common: each point gets the right value, and is counted twice.
__global__ void k_kernel(int* x) {
  x[100 + blockIdx.x * 16 + threadIdx.x] = 5;  // @store
  atomicAdd(&x[0], 5);
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 4000));
  CUDA_CHECK(cudaMemset(x, 0, 4000));
  k_kernel<<<2, 32>>>(x);
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
