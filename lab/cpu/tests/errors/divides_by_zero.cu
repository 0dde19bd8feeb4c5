// expect: divides_by_zero.cu:@divide: divides an integer by zero \(kernel launched at line
//         @launch, block \(0,0,0\), thread \(0,0,0\)\)

#include <check.h>

__global__ void divide_kernel(int* x, int n) {
  x[0] = 100 / n;  // @divide
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 40));
  divide_kernel<<<1, 1>>>(x, 0);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
