// expect: wild_pointer.cu:@load: reads 0x100000000000, where nothing was allocated \(kernel
//         launched at line @launch, block \(0,0,0\), thread \(0,0,0\)\)

#include <check.h>

__global__ void k_kernel(int* x) {
  x[0] = *reinterpret_cast<int*>(1ull << 44);  // @load
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 40));  // @malloc
  k_kernel<<<1, 1>>>(x);           // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
