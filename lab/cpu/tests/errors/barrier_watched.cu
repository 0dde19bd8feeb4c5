// expect: barrier_watched.cu:@barrier: barrier not reached by all threads of the block: thread
//         \(0,0,0\) waits here, thread \(20,0,0\) has returned
// variant: watched

#include <check.h>

__global__ void k_kernel(int* x) {
  if (threadIdx.x >= 20) return;
  x[threadIdx.x] = 1;
  __syncthreads();  // @barrier
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 4000));  // @malloc
  CUDA_CHECK(cudaMemset(x, 0, 4000));
  k_kernel<<<1, 64>>>(x);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
