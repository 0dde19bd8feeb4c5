// expect: LAB_CPU_REPAIR=waits,x: must be waits, more_x or more_y, and perhaps ,LINE,...
// env: LAB_CPU_REPAIR=waits,x

#include <check.h>

__global__ void nothing_kernel() {}

int main() {
  nothing_kernel<<<1, 1>>>();
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
