// expect: LAB_CPU_REPAIR=later: must be waits, more_x, more_y, more, turned_grid
// env: LAB_CPU_REPAIR=later

#include <check.h>

__global__ void nothing_kernel() {}

int main() {
  nothing_kernel<<<1, 1>>>();
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
