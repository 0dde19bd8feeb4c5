// expect: (endless_launches.cu:(@launch|@wait)|check.h:[0-9]+): (kernels are still launched
//         here$|host code still runs here)

#include <check.h>

#include "ask_after.h"

__global__ void count_kernel(int* count) { ++*count; }

int main() {
  ask_after(1);
  int* count;
  CUDA_CHECK(cudaMalloc(&count, sizeof(int)));
  for (;;) {
    count_kernel<<<1, 1>>>(count);        // @launch
    CUDA_CHECK(cudaDeviceSynchronize());  // @wait
  }
}
