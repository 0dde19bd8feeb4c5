// variant: watched
// env: LAB_CPU_WORKERS=2
// expect: endless_kernel.cu:(@head|@body): still runs here, for [1-9] s \(kernel launched at line
//         @launch, block \(1,0,0\), thread \(2,0,0\)\)$

#include <check.h>

#include "ask_after.h"

// Thread 34 never gets there.
__global__ void count_down_kernel(int* left, int from) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const int step = thread == 34 ? 0 : 1;
  for (int k = from; k > 0; k -= step) {  // @head
    left[thread] = k;                     // @body
  }
}

int main() {
  ask_after(3);
  int* left;
  CUDA_CHECK(cudaMalloc(&left, 64 * sizeof(int)));
  count_down_kernel<<<2, 32>>>(left, 8);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaFree(left));
  return 0;
}
