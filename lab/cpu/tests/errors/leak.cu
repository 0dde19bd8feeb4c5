// expect: leak: 4000 bytes that cudaMallocManaged gave at .*:@managed were never freed
// expect: leak: 40 bytes that cudaMalloc gave at .*:@device were never freed
// env: LAB_CPU_LEAKS=1

#include <check.h>

int main() {
  float *x, *y, *z;
  CUDA_CHECK(cudaMallocManaged(&x, 4000));  // @managed
  CUDA_CHECK(cudaMalloc(&y, 40));           // @device
  CUDA_CHECK(cudaMalloc(&z, 400));
  CUDA_CHECK(cudaFree(z));
  return 0;
}
