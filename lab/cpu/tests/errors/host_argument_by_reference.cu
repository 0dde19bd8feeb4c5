// expect: host_argument_by_reference.cu:@launch: a member of argument 2 of the launch points to no
//         memory that a kernel can use: take memory from cudaMalloc or cudaMallocManaged
// variant: watched

#include <check.h>

struct Shape {
  const int& n;
};

__global__ void k_kernel(int* x, Shape shape) { x[0] = shape.n; }

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 40));
  CUDA_CHECK(cudaMemset(x, 0, 40));
  const int n = 10 + (x != nullptr);
  k_kernel<<<1, 1>>>(x, Shape{n});  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
