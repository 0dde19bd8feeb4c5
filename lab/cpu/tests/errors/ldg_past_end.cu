// expect: ldg_past_end.cu:@load: reads just past the end of the 4000 bytes that cudaMalloc
//         gave at line @malloc \(kernel launched at line @launch, block \(0,0,0\), thread
//         \(0,0,0\): blockIdx
// variant: watched

#include <check.h>

__global__ void k_kernel(int* x) {
  x[0] = __ldg(&x[1000]);  // @load
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 4000));  // @malloc
  CUDA_CHECK(cudaMemset(x, 0, 4000));
  k_kernel<<<1, 1>>>(x);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
