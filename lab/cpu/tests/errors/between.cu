// expect: between.cu:@store: writes [0-9]+ bytes (past the end of|before) the 40 bytes that
//         cudaMalloc gave at line @malloc

#include <check.h>

#include <cstdlib>

__global__ void set_kernel(int* x, int* y) {
  x[(y - x) / 2] = 1;  // @store
}

int main() {
  // Two that are neighbours: what lies between them belongs to neither.
  int *x = nullptr, *y = nullptr;
  do {
    x = y;
    CUDA_CHECK(cudaMalloc(&y, 40));  // @malloc
  } while (std::abs(x - y) > 100000);
  set_kernel<<<1, 1>>>(x, y);
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
