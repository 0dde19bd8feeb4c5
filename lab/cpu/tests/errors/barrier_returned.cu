// expect: ^errors_barrier_returned: barrier_returned.cu:@barrier: barrier not reached by all
//         threads of the block: thread \(0,0,0\) waits here, thread \(20,0,0\) has returned; .*
//         \(kernel launched at line @launch, block \(1,0,0\)\)$

#include <check.h>

__global__ void half_kernel(int n) {
  if (blockIdx.x == 1 && threadIdx.x >= unsigned(n)) return;
  __syncthreads();  // @barrier
}

int main() {
  half_kernel<<<2, 64>>>(20);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
