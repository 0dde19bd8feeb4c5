// expect: too many blocks in cooperative launch \(1000 blocks, but only [0-9]+ fit at once\)
//         \(cudaErrorCooperativeLaunchTooLarge\)

#include <check.h>

__global__ void nothing_kernel() {}

int main() {
  void* arguments[] = {nullptr};
  CUDA_CHECK(cudaLaunchCooperativeKernel(nothing_kernel, 1000, 256, arguments));
  return 0;
}
