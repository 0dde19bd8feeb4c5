// expect: race_atomic_read.cu:(@plain|@atomic): race in global memory: thread \(0,0,0\)
//         (reads|changes atomically) what thread \(0,0,0\) of block \([0-9],0,0\) (read|changed
//         atomically) at line (@atomic|@plain), with no order in between
// variant: watched

#include <check.h>

// The sum is read while other blocks may still add to it.
__global__ void k_kernel(int* x) {
  atomicAdd(&x[0], 1);  // @atomic
  __syncthreads();
  if (threadIdx.x == 0) x[1 + blockIdx.x] = x[0];  // @plain
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 4000));  // @malloc
  CUDA_CHECK(cudaMemset(x, 0, 4000));
  k_kernel<<<3, 64>>>(x);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
