// expect: grid_and_block_barrier.cu:@grid: grid barrier not reached by all threads of the block:
//         thread \(0,0,0\) waits here, thread \(16,0,0\) waits at line @block

#include <check.h>

#include <cooperative_groups.h>

__global__ void meet_kernel() {
  if (threadIdx.x < 16) {
    cooperative_groups::this_grid().sync();  // @grid
  } else {
    __syncthreads();  // @block
  }
}

int main() {
  void* arguments[] = {nullptr};
  CUDA_CHECK(cudaLaunchCooperativeKernel(meet_kernel, 2, 32, arguments));
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
