// expect: stack_recursion.cu:[0-9]+: the thread has more than [0-9]+ KiB of local variables and
//         calls \(kernel launched at line @launch, block \(0,0,0\), thread \(0,0,0\)\)

#include <check.h>

__device__ int deep(volatile int* x, int n) {
  volatile int local[100];
  local[n % 100] = n;
  return n == 0 ? 0 : deep(x, n - 1) + local[n % 100] + x[0];
}

__global__ void deep_kernel(int* x) { x[0] = deep(x, 100000); }

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 40));
  deep_kernel<<<1, 1>>>(x);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
