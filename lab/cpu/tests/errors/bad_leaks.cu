// expect: LAB_CPU_LEAKS=yes: must be a whole number from 0 to 1
// env: LAB_CPU_LEAKS=yes

#include <check.h>

__global__ void nothing_kernel() {}

int main() {
  nothing_kernel<<<1, 1>>>();
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
