// expect: warp_two_operations.cu:@shuffle: thread \(0,0,0\) waits here for the others of its
//         mask, thread \(1,0,0\) waits at line @vote

#include <check.h>

__global__ void two_kernel() {
  if (threadIdx.x % 2 == 0) {
    __shfl_sync(0xffffffff, 1, 0);  // @shuffle
  } else {
    __any_sync(0xffffffff, 1);  // @vote
  }
}

int main() {
  two_kernel<<<1, 32>>>();
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
