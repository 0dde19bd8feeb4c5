// expect: shared_past_end.cu:@store: writes shared memory just past the end of a variable
//         \(kernel launched at line @launch, block \(0,0,0\), thread \(32,0,0\)\)
// variant: watched

#include <check.h>

__global__ void k_kernel(int* x) {
  __shared__ int a[32];
  __shared__ int b[32];
  a[threadIdx.x] = x[threadIdx.x];  // @store
  b[threadIdx.x % 32] = 0;
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 4000));  // @malloc
  CUDA_CHECK(cudaMemset(x, 0, 4000));
  k_kernel<<<1, 33>>>(x);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
