// expect: race_in_a_warp.cu:@load: race in shared memory: thread \([0-9]+,0,0\) reads what thread
//         \([0-9]+,0,0\) wrote at line @store, with no barrier
// variant: watched

#include <check.h>

// Before Volta the lanes of a warp went in step. __syncwarp is missing.
__global__ void k_kernel(int* x) {
  __shared__ int tile[32];
  const int t = threadIdx.x;
  tile[t] = x[t];       // @store
  x[t] = tile[31 - t];  // @load
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 4000));  // @malloc
  CUDA_CHECK(cudaMemset(x, 0, 4000));
  k_kernel<<<1, 32>>>(x);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
