// expect: warp_returned.cu:@shuffle: thread \(0,0,0\) waits here for the others of its mask,
//         thread \(20,0,0\) has returned \(kernel launched at line @launch, block \(0,0,0\)\)

#include <check.h>

__global__ void sum_kernel(int n) {
  int x = threadIdx.x;
  if (x >= n) return;
  x += __shfl_down_sync(0xffffffff, x, 1);  // @shuffle
}

int main() {
  sum_kernel<<<1, 32>>>(20);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
