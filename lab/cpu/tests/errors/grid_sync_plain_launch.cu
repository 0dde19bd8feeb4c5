// expect: grid_sync_plain_launch.cu:@sync: the grid cannot be synchronised: launch the kernel
//         with cudaLaunchCooperativeKernel \(kernel launched at line @launch, block \(0,0,0\)\)

#include <check.h>

#include <cooperative_groups.h>

__global__ void meet_kernel() {
  cooperative_groups::this_grid().sync();  // @sync
}

int main() {
  meet_kernel<<<2, 32>>>();  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
