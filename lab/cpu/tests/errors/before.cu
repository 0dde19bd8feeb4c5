// expect: before.cu:@load: reads 20000 bytes before the 40 bytes that cudaMalloc gave at line
//         @malloc \(kernel launched at line @launch, block \(0,0,0\), thread \(0,0,0\): blockIdx

#include <check.h>

__global__ void k_kernel(int* x) {
  x[0] = x[-5000];  // @load
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 40));  // @malloc
  k_kernel<<<1, 1>>>(x);           // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
