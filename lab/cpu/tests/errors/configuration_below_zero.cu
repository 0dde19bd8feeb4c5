// expect: configuration_below_zero.cu:@check: cudaGetLastError\(\): invalid configuration argument
//         \(a grid of 4294967293 x 1 x 1 \(x is -3 as an int\) blocks, but at most

#include <check.h>

__global__ void nothing_kernel() {}

int main() {
  nothing_kernel<<<1 - 4, 32>>>();
  CUDA_CHECK(cudaGetLastError());  // @check
  return 0;
}
