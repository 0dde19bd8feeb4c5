// expect: race_no_fence_in_warp.cu:@load: race in global memory: thread \(0,0,0\) reads what thread
//         \([0-9]+,0,0\) of block \([0-9],0,0\) wrote at line @store, with no order in between
// variant: watched

#include <check.h>

// Lane 0 fences and counts for its warp, and does not wait for the other lanes: __syncwarp is
// missing.
__global__ void k_kernel(int* x) {
  x[1 + 32 * blockIdx.x + threadIdx.x] = 5;  // @store
  if (threadIdx.x > 0) return;
  __threadfence();
  if (atomicAdd(&x[0], 1) < static_cast<int>(gridDim.x) - 1) return;
  int sum = 0;
  for (unsigned k = 0; k < 32 * gridDim.x; ++k) sum += x[1 + k];  // @load
  x[999] = sum;
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 4000));
  CUDA_CHECK(cudaMemset(x, 0, 4000));
  k_kernel<<<4, 32>>>(x);
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
