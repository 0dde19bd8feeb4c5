// expect: too many blocks in cooperative launch \(9 blocks, but only 8 fit at once\)
//         \(cudaErrorCooperativeLaunchTooLarge\)
// env: LAB_CPU_MULTIPROCESSORS=1

#include <check.h>

__global__ void nothing_kernel() {}

int main() {
  void* arguments[] = {nullptr};
  CUDA_CHECK(cudaLaunchCooperativeKernel(nothing_kernel, 9, 256, arguments));
  return 0;
}
