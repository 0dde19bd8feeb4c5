// expect: LAB_CPU_ORDER=random: must be forward, reverse or shuffled
// env: LAB_CPU_ORDER=random

#include <check.h>

__global__ void nothing_kernel() {}

int main() {
  nothing_kernel<<<1, 1>>>();
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
