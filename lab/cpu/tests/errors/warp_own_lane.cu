// expect: warp_own_lane.cu:@wait: thread \(16,0,0\) is not in the mask that it gives

#include <check.h>

__global__ void mask_kernel() {
  __syncwarp(0x0000ffff);  // @wait
}

int main() {
  mask_kernel<<<1, 32>>>();
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
