// expect: reset_before_launch.cu:@launch: argument 1 of the launch points to memory that was freed
//         at line @reset

#include <check.h>

__global__ void set_kernel(double* x, double value) { *x = value; }

int main() {
  double* x;
  CUDA_CHECK(cudaMalloc(&x, sizeof(double)));
  CUDA_CHECK(cudaDeviceReset());  // @reset
  set_kernel<<<1, 1>>>(x, 5.0);   // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
