// expect: pipeline_two_copies.cu:@second: an asynchronous copy goes to shared memory to which the
//         one of line @first may still be in flight: __pipeline_wait_prior waits for it:
//         tile\[1\]\[0\] \(kernel launched at line @launch, block \(0,0,0\), thread \(0,0,0\)\)
// variant: watched
// also: LAB_CPU_ORDER=reverse

#include <check.h>

#include <cuda_pipeline.h>

__global__ void k_kernel(int* x) {
  __shared__ int tile[2][32];
  const int k = threadIdx.x;
  __pipeline_memcpy_async(&tile[0][k], &x[k], 4);
  __pipeline_commit();
  __pipeline_memcpy_async(&tile[1][k], &x[k], 4);  // @first
  __pipeline_commit();
  __pipeline_wait_prior(1);
  __pipeline_memcpy_async(&tile[0][k], &x[k], 4);
  __pipeline_memcpy_async(&tile[1][k], &x[k], 4);  // @second
  __pipeline_commit();
  __pipeline_wait_prior(0);
  x[k] = tile[0][k] + tile[1][k];
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 4000));
  CUDA_CHECK(cudaMemset(x, 0, 4000));
  k_kernel<<<1, 32>>>(x);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
