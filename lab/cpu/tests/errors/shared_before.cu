// expect: shared_before.cu:@load: reads shared memory 4 bytes before its first variable
//         \(kernel launched at line @launch, block \(0,0,0\), thread \(0,0,0\)\)
// variant: watched

#include <check.h>

__global__ void k_kernel(int* x) {
  __shared__ int row[32];
  row[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = row[static_cast<int>(threadIdx.x) - 1];  // @load
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 4000));
  CUDA_CHECK(cudaMemset(x, 0, 4000));
  k_kernel<<<1, 32>>>(x);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
