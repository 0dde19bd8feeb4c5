// expect: LAB_CPU_MULTIPROCESSORS=0: must be a whole number from 1 to 1024
// env: LAB_CPU_MULTIPROCESSORS=0

#include <check.h>

__global__ void nothing_kernel() {}

int main() {
  nothing_kernel<<<1, 1>>>();
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
