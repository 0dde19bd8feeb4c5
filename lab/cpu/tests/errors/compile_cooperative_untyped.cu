// expect: CUDA on the CPU does not cover a kernel.s untyped address: name the kernel
//         itself, without \(void\*\)
// variant: compile

#include <check.h>

__global__ void nothing_kernel() {}

int main() {
  void* arguments[] = {nullptr};
  const void* kernel = (void*)nothing_kernel;
  CUDA_CHECK(cudaLaunchCooperativeKernel(kernel, 2, 32, arguments));
  return 0;
}
