// expect: copy_within_the_gpu.cu:@load: host code reads byte 0 of the 4 bytes that
//         cudaMallocManaged gave at line @malloc, and the copy queued at line @copy may not have
//         ended: wait for it

#include <check.h>

int main() {
  int *x, *y;
  CUDA_CHECK(cudaMallocManaged(&x, sizeof(int)));
  CUDA_CHECK(cudaMallocManaged(&y, sizeof(int)));  // @malloc
  x[0] = 1;
  CUDA_CHECK(cudaMemcpy(y, x, sizeof(int), cudaMemcpyDeviceToDevice));  // @copy
  return y[0];                                                          // @load
}
