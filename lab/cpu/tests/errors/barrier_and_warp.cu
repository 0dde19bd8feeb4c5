// expect: barrier_and_warp.cu:@warp: thread \(0,0,0\) waits here for the others of its mask,
//         thread \(1,0,0\) waits at line @barrier \(kernel launched at line @launch, block
//         \(0,0,0\)\)

#include <check.h>

__global__ void both_kernel() {
  if (threadIdx.x == 0) {
    __syncwarp();  // @warp
  } else {
    __syncthreads();  // @barrier
  }
}

int main() {
  both_kernel<<<1, 32>>>();  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
