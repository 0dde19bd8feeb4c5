// expect: configuration_after_queued_work.cu:@check: cudaGetLastError\(\): invalid configuration
//         argument \(the grid is 0 x 1 x 1 blocks of 32 x 1 x 1\) \(cudaErrorInvalidConfiguration\)

// The refused launch is the last word, and not the work before it that nobody waited for.

#include <check.h>

__global__ void nothing_kernel() {}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 40));
  CUDA_CHECK(cudaMemset(x, 0, 40));
  nothing_kernel<<<0, 32>>>();
  CUDA_CHECK(cudaGetLastError());  // @check
  return 0;
}
