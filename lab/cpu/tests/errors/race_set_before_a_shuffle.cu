// expect: race_set_before_a_shuffle.cu:@add: race in shared memory: thread \(32,0,0\) changes
//   atomically what thread \(0,0,0\) wrote at line @set
// variant: watched

#include <check.h>

// What a warp does in between orders its own lanes, and no other warp.
__global__ void sum_kernel(double* sum) {
  __shared__ double all;
  double own = threadIdx.x;
  if (threadIdx.x == 0) all = 0.0;  // @set
  for (int k = 16; k > 0; k /= 2) own += __shfl_xor_sync(~0u, own, k);
  if (threadIdx.x % 32 == 0) atomicAdd(&all, own);  // @add
  __syncthreads();
  if (threadIdx.x == 0) *sum = all;
}

int main() {
  double* sum;
  CUDA_CHECK(cudaMalloc(&sum, sizeof(double)));
  sum_kernel<<<1, 64>>>(sum);
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
