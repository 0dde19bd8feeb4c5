// expect: pipeline_no_wait.cu:@load: reads shared memory that nothing has written: tile.0., to
//   which an asynchronous copy is still in flight
// variant: watched

#include <check.h>

#include <cuda_pipeline.h>

__global__ void k_kernel(int* x) {
  __shared__ int tile[32];
  __pipeline_memcpy_async(&tile[threadIdx.x], &x[threadIdx.x], 4);
  __pipeline_commit();
  __syncthreads();
  x[threadIdx.x] = tile[threadIdx.x];  // @load
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 4000));  // @malloc
  CUDA_CHECK(cudaMemset(x, 0, 4000));
  k_kernel<<<1, 32>>>(x);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
