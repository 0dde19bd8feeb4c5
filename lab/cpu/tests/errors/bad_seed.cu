// expect: LAB_CPU_SEED=-1: must be a whole number
// env: LAB_CPU_SEED=-1

#include <check.h>

__global__ void nothing_kernel() {}

int main() {
  nothing_kernel<<<1, 1>>>();
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
