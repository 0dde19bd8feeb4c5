// expect: grid_sync_block_missing.cu:@launch: some blocks wait for the grid, but others
//         have returned: all must reach the barrier

#include <check.h>

#include <cooperative_groups.h>

__global__ void meet_kernel() {
  if (blockIdx.x == 1) return;
  cooperative_groups::this_grid().sync();  // @sync
}

int main() {
  void* arguments[] = {nullptr};
  CUDA_CHECK(cudaLaunchCooperativeKernel(meet_kernel, 3, 32, arguments));  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
