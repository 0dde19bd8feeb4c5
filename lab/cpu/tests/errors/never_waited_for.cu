// expect: the program ended without waiting for the work queued at .*:@launch and after,
//         which was not done
// exit: 0

#include <check.h>

__global__ void set_kernel(int* x) { *x = 1; }

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 40));
  set_kernel<<<1, 1>>>(x);  // @launch
  set_kernel<<<1, 1>>>(x);
  CUDA_CHECK(cudaGetLastError());
  return 0;
}
