// expect: null_pointer_with_index.cu:@load: reads 400 bytes past a null pointer \(kernel launched
//         at line @launch, block \(0,0,0\), thread \(0,0,0\)\)

#include <check.h>

__global__ void k_kernel(int* x, const int* y) {
  x[0] = y[100];  // @load
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 40));  // @malloc
  k_kernel<<<1, 1>>>(x, nullptr);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
