// expect: pipeline_size.cu:@copy: an asynchronous copy moves 4, 8 or 16 bytes, aligned to their
//         number \(kernel launched at line @launch, block \(0,0,0\), thread \(0,0,0\)\)

#include <check.h>

#include <cuda_pipeline.h>

__global__ void copy_kernel(const char* x) {
  __shared__ char tile[64];
  __pipeline_memcpy_async(&tile[0], &x[2], 4);  // @copy
}

int main() {
  char* x;
  CUDA_CHECK(cudaMalloc(&x, 64));
  copy_kernel<<<1, 1>>>(x);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
