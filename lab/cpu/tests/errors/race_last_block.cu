// expect: race_last_block.cu:@load: race in global memory: thread \(0,0,0\) reads what thread
//         \(0,0,0\) of block \([0-9],0,0\) wrote at line @store
// variant: watched

#include <check.h>

// The counter is counted before the block's part is there.
__global__ void k_kernel(int* x) {
  const bool is_last = atomicAdd(&x[0], 1) == static_cast<int>(gridDim.x) - 1;
  x[1 + blockIdx.x] = 5;  // @store
  if (!is_last) return;
  int sum = 0;
  for (unsigned k = 0; k < gridDim.x; ++k) sum += x[1 + k];  // @load
  x[100] = sum;
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 4000));  // @malloc
  CUDA_CHECK(cudaMemset(x, 0, 4000));
  k_kernel<<<4, 1>>>(x);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
