// expect: stack_large_array.cu:[0-9]+: the thread has more than [0-9]+ KiB of local variables and
//         calls \(kernel launched at line @launch, block \(0,0,0\), thread \(0,0,0\)\)

#include <check.h>

// Far more than a page at once.
__global__ void large_kernel(int* x, int n) {
  volatile char local[300000];
  local[n] = 1;
  x[0] = local[n];
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 40));
  large_kernel<<<1, 1>>>(x, 5);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
