// expect: wide_past_end.cu:@copy: reads 24 bytes from byte 72 of the 80 bytes that cudaMalloc gave
//         at line @malloc \(kernel launched at line @launch, block \(0,0,0\), thread
//         \(3,0,0\): blockIdx
// variant: watched

#include <check.h>

struct Cell {
  float value[6];
};

// The last of them lies in the memory for its first half only.
__global__ void copy_kernel(const Cell* x, Cell* y) {
  y[threadIdx.x] = x[threadIdx.x];  // @copy
}

int main() {
  Cell *x, *y;
  CUDA_CHECK(cudaMalloc(&x, 80));  // @malloc
  CUDA_CHECK(cudaMalloc(&y, 4 * sizeof(Cell)));
  CUDA_CHECK(cudaMemset(x, 0, 80));
  copy_kernel<<<1, 4>>>(x, y);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
