// expect: unwritten_shared.cu:@load: reads shared memory that nothing has written \(kernel
//         launched at line @launch, block \(0,0,0\), thread \(63,0,0\)\)
// variant: watched

#include <lab/cuda_check.h>

__global__ void k_kernel(int* x) {
  __shared__ int tile[65];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = tile[threadIdx.x + 1];  // @load
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 4000));  // @malloc
  CUDA_CHECK(cudaMemset(x, 0, 4000));
  k_kernel<<<1, 64>>>(x);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
