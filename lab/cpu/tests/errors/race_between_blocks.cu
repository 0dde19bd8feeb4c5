// expect: race_between_blocks.cu:@add: race in global memory: thread \(0,0,0\) (reads|writes)
//         what thread \(0,0,0\) of block \(0,0,0\) (wrote|read) at line @add, with no order in
//         between \(kernel launched at line @launch, block \(1,0,0\)\)
// variant: watched

#include <check.h>

__global__ void k_kernel(int* x) {
  if (threadIdx.x == 0) x[0] += blockIdx.x;  // @add
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 4000));  // @malloc
  CUDA_CHECK(cudaMemset(x, 0, 4000));
  k_kernel<<<3, 64>>>(x);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
