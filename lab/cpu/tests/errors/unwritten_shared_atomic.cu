// expect: unwritten_shared_atomic.cu:@add: changes atomically shared memory that nothing has
//         written: sum
// variant: watched

#include <check.h>

__global__ void k_kernel(int* x) {
  __shared__ int sum;
  atomicAdd(&sum, 1);  // @add
  __syncthreads();
  if (threadIdx.x == 0) x[0] = sum;
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, sizeof *x));
  k_kernel<<<1, 64>>>(x);
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
