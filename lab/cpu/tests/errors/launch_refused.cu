// expect: launch_refused.cu:@launch: the launch was refused \(a block of 64 x 64 x 1 = 4096
//         threads, but at most 1024 are allowed\), but
//         cudaGetLastError was never called
// exit: 0

#include <check.h>

__global__ void nothing_kernel() {}

int main() {
  nothing_kernel<<<1, dim3(64, 64)>>>();  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
