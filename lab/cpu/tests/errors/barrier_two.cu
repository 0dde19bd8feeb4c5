// expect: barrier_two.cu:@even: barrier not reached by all threads of the block: thread \(0,0,0\)
//         waits here, thread \(1,0,0\) waits at line @odd \(kernel launched at line @launch,
//         block \(0,0,0\)\)

#include <check.h>

__global__ void two_kernel() {
  if (threadIdx.x % 2 == 0) {
    __syncthreads();  // @even
  } else {
    __syncthreads();  // @odd
  }
}

int main() {
  two_kernel<<<1, 64>>>();  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
