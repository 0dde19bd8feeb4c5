// expect: host_argument_in_object.cu:@launch: a member of argument 2 of the launch points to no
//         memory that a kernel can use: take memory from cudaMalloc or cudaMallocManaged
// variant: watched

#include <check.h>

struct Sum {
  int weight;
  double* total;
};

__global__ void k_kernel(int* x, Sum sum) { *sum.total += sum.weight * x[0]; }

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 40));
  CUDA_CHECK(cudaMemset(x, 0, 40));
  double total = 0.0;
  k_kernel<<<1, 1>>>(x, Sum{2, &total});  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
