// expect: configuration.cu:@check: cudaGetLastError\(\): invalid configuration argument \(a block
//         of 64 x 64 x 1 = 4096 threads, but at most 1024 are allowed\)
//         \(cudaErrorInvalidConfiguration\)

#include <check.h>

__global__ void nothing_kernel() {}

int main() {
  nothing_kernel<<<1, dim3(64, 64)>>>();
  CUDA_CHECK(cudaGetLastError());  // @check
  return 0;
}
