// expect: reset_in_the_middle.cu:@load: host code reads byte 0 of the 40 bytes that
//         cudaMallocManaged gave at line @malloc and that were freed at line @reset

#include <check.h>

int main() {
  float* x;
  CUDA_CHECK(cudaMallocManaged(&x, 40));  // @malloc
  x[0] = 1;
  CUDA_CHECK(cudaDeviceReset());  // @reset
  return static_cast<int>(x[0]);  // @load
}
