// expect: warp_source.cu:@shuffle: thread \(0,0,0\) reads from lane 20, which takes no part
//         \(kernel launched at line @launch, block \(0,0,0\)\)

#include <check.h>

__global__ void shuffle_kernel() {
  if (threadIdx.x >= 16) return;
  __shfl_sync(0x0000ffff, threadIdx.x, 20);  // @shuffle
}

int main() {
  shuffle_kernel<<<1, 32>>>();  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
