// expect: grid_sync_thread_missing.cu:@sync: grid barrier not reached by all threads of the
//         block: thread \(0,0,0\) waits here, thread \(5,0,0\) has returned \(kernel launched at
//         line @launch, block \(0,0,0\)\)

#include <check.h>

#include <cooperative_groups.h>

__global__ void meet_kernel() {
  if (threadIdx.x == 5) return;
  cooperative_groups::this_grid().sync();  // @sync
}

int main() {
  void* arguments[] = {nullptr};
  CUDA_CHECK(cudaLaunchCooperativeKernel(meet_kernel, 3, 32, arguments));  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
