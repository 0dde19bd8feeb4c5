// expect: unwritten_shared.cu:@load: reads shared memory that nothing has written: tile\[2\]\[1\]
//         \(kernel launched at line @launch, block \(0,0,0\), thread \(63,0,0\)\)
// variant: watched

#include <check.h>

__global__ void k_kernel(int* x) {
  __shared__ double before[3];
  __shared__ int tile[3][63];
  if (threadIdx.x < 3) before[threadIdx.x] = 0;
  tile[threadIdx.x / 32][threadIdx.x % 32] = x[threadIdx.x];
  __syncthreads();
  const int k = threadIdx.x;
  x[k] = k == 63 ? tile[2][1] : tile[k / 32][k % 32];  // @load
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 4000));  // @malloc
  CUDA_CHECK(cudaMemset(x, 0, 4000));
  k_kernel<<<1, 64>>>(x);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
