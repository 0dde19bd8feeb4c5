// expect: dynamic_shared_before.cu:@store: writes shared memory 4 bytes before the launch.s
//         dynamic part \(kernel launched at line @launch, block \(0,0,0\), thread \(0,0,0\)\)
// variant: watched

#include <check.h>

__global__ void k_kernel(int* x) {
  extern __shared__ int a[];
  a[static_cast<int>(threadIdx.x) - 1] = x[threadIdx.x];  // @store
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 4000));  // @malloc
  CUDA_CHECK(cudaMemset(x, 0, 4000));
  k_kernel<<<1, 33, 36 * sizeof(int)>>>(x);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
