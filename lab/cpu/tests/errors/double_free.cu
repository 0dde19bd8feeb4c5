// expect: double_free.cu:@second: cudaFree\(x\): invalid argument \(freed already at
//         double_free.cu:@first\) \(cudaErrorInvalidValue\)

#include <check.h>

__global__ void k_kernel(int* x) { x[0] = 0; }

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 40));  // @malloc
  k_kernel<<<1, 1>>>(x);           // @launch
  CUDA_CHECK(cudaFree(x));         // @first
  CUDA_CHECK(cudaFree(x));         // @second
  return 0;
}
