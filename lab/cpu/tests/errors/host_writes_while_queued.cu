// expect: host_writes_while_queued.cu:@store: host code writes byte 8 of the 40 bytes that
//         cudaMallocManaged gave at line @malloc, and the kernel launched at line @launch may not
//         have ended

#include <check.h>

// A kernel that reads what the host then changes.
__global__ void read_kernel(const int* x, int* y) { y[threadIdx.x] = x[threadIdx.x]; }

int main() {
  int *x, *y;
  CUDA_CHECK(cudaMallocManaged(&x, 40));  // @malloc
  CUDA_CHECK(cudaMallocManaged(&y, 40));
  for (int k = 0; k < 10; ++k) x[k] = k;
  read_kernel<<<1, 10>>>(x, y);  // @launch
  CUDA_CHECK(cudaGetLastError());
  x[2] = 7;  // @store
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
