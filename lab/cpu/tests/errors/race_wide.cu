// expect: race_wide.cu:(@load|@store): race in shared memory: thread \([0-9]+,0,0\) (reads|writes)
//         what thread \([0-9]+,0,0\) (wrote|read) at line (@store|@load), with no barrier
// variant: watched

#include <check.h>

// What is moved whole, by a call of the C library perhaps.
__global__ void copy_kernel(float4* x) {
  __shared__ float4 tile[64];
  const int t = threadIdx.x;
  tile[t] = x[t];       // @store
  x[t] = tile[63 - t];  // @load
}

int main() {
  float4* x;
  CUDA_CHECK(cudaMalloc(&x, 64 * sizeof(float4)));
  CUDA_CHECK(cudaMemset(x, 0, 64 * sizeof(float4)));
  copy_kernel<<<1, 64>>>(x);
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
