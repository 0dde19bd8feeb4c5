// expect: race_in_block.cu:@add: race in global memory: thread \([0-9]+,0,0\) (reads|writes) what
//         thread \([0-9]+,0,0\) (wrote|read) at line @add, with no barrier in between \(kernel
//         launched at line @launch, block \(0,0,0\)\)
// variant: watched

#include <check.h>

__global__ void k_kernel(int* x) {
  x[0] += threadIdx.x;  // @add
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 4000));  // @malloc
  CUDA_CHECK(cudaMemset(x, 0, 4000));
  k_kernel<<<1, 64>>>(x);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
