// expect: pipeline_read_before.cu:@copy: race in shared memory: thread \([0-9]*,0,0\)
//   writes what thread \([0-9]*,0,0\) read at line @load
// variant: watched

#include <check.h>

#include <cuda_pipeline.h>

// The next copy is asked for while others still read what it will overwrite; the wait comes after a
// barrier.
__global__ void k_kernel(int* x) {
  __shared__ int tile[64];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[64 + threadIdx.x] = tile[threadIdx.x ^ 32];                           // @load
  __pipeline_memcpy_async(&tile[threadIdx.x], &x[128 + threadIdx.x], 4);  // @copy
  __pipeline_commit();
  __syncthreads();
  __pipeline_wait_prior(0);
  __syncthreads();
  x[64 + threadIdx.x] += tile[threadIdx.x ^ 32];
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 4000));  // @malloc
  CUDA_CHECK(cudaMemset(x, 0, 4000));
  k_kernel<<<1, 64>>>(x);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
