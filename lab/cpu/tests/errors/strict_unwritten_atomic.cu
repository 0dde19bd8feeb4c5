// expect: strict_unwritten_atomic.cu:@add: changes atomically global memory that nothing has
//         written \(kernel launched at line @launch, block \(0,0,0\), thread \(0,0,0\)\)
// env: LAB_CPU_STRICT=1
// variant: watched

#include <check.h>

__global__ void k_kernel(double* sum, int* set) {
  atomicExch(set, 1);  // needs nothing
  atomicAdd(set, 1);
  atomicAdd(sum, 1.0);  // @add
}

int main() {
  double* sum;
  int* set;
  CUDA_CHECK(cudaMalloc(&sum, sizeof *sum));
  CUDA_CHECK(cudaMalloc(&set, sizeof *set));
  k_kernel<<<1, 1>>>(sum, set);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
