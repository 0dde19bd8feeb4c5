// expect: warp_short.cu:@shuffle: thread \(32,0,0\) reads from lane 16, which takes no part

#include <check.h>

// The last warp of 40 threads has 8.
__global__ void shuffle_kernel() {
  __shfl_down_sync(0xffffffff, threadIdx.x, 16);  // @shuffle
}

int main() {
  shuffle_kernel<<<1, 40>>>();
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
