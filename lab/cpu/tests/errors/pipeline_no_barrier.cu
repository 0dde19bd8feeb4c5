// expect: pipeline_no_barrier.cu:(@load|@copy): race in shared memory:
// variant: watched

#include <check.h>

#include <cuda_pipeline.h>

__global__ void k_kernel(int* x) {
  __shared__ int tile[64];
  __pipeline_memcpy_async(&tile[threadIdx.x], &x[threadIdx.x], 4);  // @copy
  __pipeline_commit();
  __pipeline_wait_prior(0);
  x[64 + threadIdx.x] = tile[threadIdx.x ^ 32];  // @load
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 4000));  // @malloc
  CUDA_CHECK(cudaMemset(x, 0, 4000));
  k_kernel<<<1, 64>>>(x);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
