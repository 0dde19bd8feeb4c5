// expect: atomic_own.cu:@add: changes atomically a variable of the thread's own, which no other
//         thread sees \(kernel launched at line @launch, block \(0,0,0\), thread \(5,0,0\):
//         blockIdx \* blockDim \+ threadIdx is \(5,0,0\)\)

#include <check.h>

__device__ void add(double sum, double change) {
  atomicAdd(&sum, change);  // @add
}

__global__ void k_kernel(double* sum) {
  atomicAdd(sum, 1.0);
  if (threadIdx.x == 5) add(*sum, 2.0);
}

int main() {
  double* sum;
  CUDA_CHECK(cudaMalloc(&sum, sizeof(double)));
  CUDA_CHECK(cudaMemset(sum, 0, sizeof(double)));
  k_kernel<<<1, 32>>>(sum);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
