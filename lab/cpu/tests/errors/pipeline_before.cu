// expect: pipeline_before.cu:@copy: reads 20000 bytes before the 64 bytes that cudaMalloc gave at
//         line @malloc

#include <check.h>

#include <cuda_pipeline.h>

__global__ void copy_kernel(const float4* x) {
  __shared__ float4 tile[4];
  __pipeline_memcpy_async(&tile[0], &x[-1250], 16);  // @copy
  __pipeline_commit();
  __pipeline_wait_prior(0);
}

int main() {
  float4* x;
  CUDA_CHECK(cudaMalloc(&x, 64));  // @malloc
  copy_kernel<<<1, 1>>>(x);
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
