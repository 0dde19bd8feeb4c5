// expect: strict_same_value_partial_sums.cu:@store: race in global memory: thread
//         \([0-9]+,0,0\) writes what thread \([0-9]+,0,0\) of block \([0-9],0,0\) wrote at
//         line @store, with no order
// env: LAB_CPU_STRICT=1
// variant: watched

#include <check.h>

// Blocks have points in common. Each stores a sum of its own: no atomic, and yet they count twice.
__global__ void k_kernel(float* x, double* sums) {
  x[blockIdx.x * 16 + threadIdx.x] = 5;  // @store
  if (threadIdx.x == 0) sums[blockIdx.x] = 32 * 5;
}

int main() {
  float* x;
  double* sums;
  CUDA_CHECK(cudaMalloc(&x, 4000));
  CUDA_CHECK(cudaMemset(x, 0, 4000));
  CUDA_CHECK(cudaMalloc(&sums, 2 * sizeof(double)));
  k_kernel<<<2, 32>>>(x, sums);
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
