// expect: warp_masks.cu:@vote: thread \(0,0,0\) waits here for the others of its mask, thread
//         \(16,0,0\) waits at line @vote with another mask

#include <check.h>

__global__ void vote_kernel() {
  const unsigned mask = threadIdx.x < 16 ? 0xffffffff : 0xffff0000;
  __any_sync(threadIdx.x < 16 ? mask : mask | 1, 1);  // @vote
}

int main() {
  vote_kernel<<<1, 32>>>();
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
