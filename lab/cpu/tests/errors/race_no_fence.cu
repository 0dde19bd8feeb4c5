// expect: race_no_fence.cu:@load: race in global memory: thread \(0,0,0\) reads what thread
//         \(0,0,0\) of block \([0-9],0,0\) wrote at line @store, with no __threadfence before the
//         atomic in between
// variant: watched

#include <check.h>

// The block that counts last may not see yet what the others wrote: __threadfence() is missing.
__global__ void k_kernel(int* x) {
  x[1 + blockIdx.x] = 5;  // @store
  __threadfence_block();
  if (atomicAdd(&x[0], 1) < static_cast<int>(gridDim.x) - 1) return;
  int sum = 0;
  for (unsigned k = 0; k < gridDim.x; ++k) sum += x[1 + k];  // @load
  x[100] = sum;
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 4000));
  CUDA_CHECK(cudaMemset(x, 0, 4000));
  k_kernel<<<4, 1>>>(x);
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
