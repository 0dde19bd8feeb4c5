// expect: invalid argument \(65536 bytes of shared memory, but at most 49152 are allowed without
//         cudaFuncSetAttribute\)

#include <check.h>

__global__ void nothing_kernel() {}

int main() {
  nothing_kernel<<<1, 1, 64 * 1024>>>();
  CUDA_CHECK(cudaGetLastError());
  return 0;
}
