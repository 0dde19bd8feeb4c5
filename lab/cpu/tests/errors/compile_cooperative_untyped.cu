// expect: CUDA on the CPU does not cover a kernel.s untyped address: name the kernel
//         itself, without \(void\*\)
// variant: compile

#include <lab/cuda_check.h>

__global__ void nothing_kernel() {}

int main() {
  void* arguments[] = {nullptr};
  CUDA_CHECK(cudaLaunchCooperativeKernel((void*)nothing_kernel, 2, 32, arguments));
  return 0;
}
