// expect: launch_bounds.cu:@launch: a GPU refuses this launch: a block of 32 x 3 x 1 threads, but
//         __launch_bounds__ of the kernel at line @kernel allows 64

#include <check.h>

template <int kRows>
__global__ void __launch_bounds__(32 * kRows, 2) k_kernel(int* x) {  // @kernel
  if (threadIdx.x == 0 && threadIdx.y == 0) x[0] = kRows;
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, sizeof *x));
  k_kernel<2><<<1, dim3(32, 2)>>>(x);
  CUDA_CHECK(cudaDeviceSynchronize());
  k_kernel<2><<<1, dim3(32, 3)>>>(x);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
