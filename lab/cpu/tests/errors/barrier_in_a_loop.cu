// expect: barrier_in_a_loop.cu:@barrier: barrier not reached by all threads of the block: thread
//         \(1,0,0\) waits here, thread \(0,0,0\) has returned

#include <check.h>

// The threads go round as often as their numbers say.
__global__ void loop_kernel() {
  for (unsigned k = 0; k < threadIdx.x; ++k) __syncthreads();  // @barrier
}

int main() {
  loop_kernel<<<1, 4>>>();
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
