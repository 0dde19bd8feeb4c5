// expect: null_pointer.cu:@store: writes a null pointer \(kernel launched at line @launch, block
//         \(0,0,0\), thread \(0,0,0\)\)

#include <check.h>

__global__ void k_kernel(int* x, int* y) {
  y[0] = x[0];  // @store
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 40));  // @malloc
  k_kernel<<<1, 1>>>(x, nullptr);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
