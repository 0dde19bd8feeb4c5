// expect: past_end.cu:@store: writes 4000 bytes past the end of the 40 bytes that cudaMalloc gave
//         at line @malloc \(kernel launched at line @launch, block \(1,0,0\), thread \(2,0,0\):
//         blockIdx \* blockDim \+ threadIdx is \(6,0,0\)\)

#include <check.h>

__global__ void k_kernel(int* x) {
  if (blockIdx.x == 1 && threadIdx.x == 2) x[1010] = 1;  // @store
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 40));  // @malloc
  k_kernel<<<2, 4>>>(x);           // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
