// expect: race_atomic.cu:@atomic: race in global memory: thread \([0-9]+,0,0\) changes atomically
//         what thread \([0-9]+,0,0\) wrote at line @plain, with no barrier in between
// variant: watched

#include <check.h>

__global__ void k_kernel(int* x) {
  if (threadIdx.x == 0) x[0] = 5;  // @plain
  atomicAdd(&x[0], 1);             // @atomic
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 4000));  // @malloc
  CUDA_CHECK(cudaMemset(x, 0, 4000));
  k_kernel<<<1, 64>>>(x);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
