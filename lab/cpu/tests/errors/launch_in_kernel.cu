// expect: launch_in_kernel.cu:@inner: a kernel cannot launch a kernel here

#include <check.h>

__global__ void inner_kernel() {}

__global__ void outer_kernel() {
  inner_kernel<<<1, 1>>>();  // @inner
}

int main() {
  outer_kernel<<<1, 1>>>();
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
