// expect: race_set_before_atomics.cu:@add: race in global memory: thread \(0,0,0\) changes
//         atomically what thread \(0,0,0\) of block \(0,0,0\) wrote at line @set, with no order
// variant: watched

#include <check.h>

__global__ void k_kernel(int* sum) {
  if (blockIdx.x == 0 && threadIdx.x == 0) *sum = 0;  // @set
  __syncthreads();                                    // of block 0 alone
  atomicAdd(sum, 1);                                  // @add
}

int main() {
  int* sum;
  CUDA_CHECK(cudaMalloc(&sum, sizeof(int)));
  k_kernel<<<2, 64>>>(sum);
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
