// expect: unwritten_global.cu:@load: reads global memory that nothing has written \(kernel
//         launched at line @launch, block \(0,0,0\), thread \(0,0,0\)\)
// variant: watched

#include <check.h>

__global__ void k_kernel(int* x, const float* y) {
  x[0] = y[3] > 0;  // @load
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 4000));  // @malloc
  CUDA_CHECK(cudaMemset(x, 0, 4000));
  float* y;
  CUDA_CHECK(cudaMalloc(&y, 40));
  k_kernel<<<1, 1>>>(x, y);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
