// expect: cub_storage_reused.cu:@second: race in shared memory: thread \([0-9]+,0,0\) writes what
//         thread \(0,0,0\) read at line @first, with no barrier in between
// variant: watched

#include <check.h>

#include <cub/block/block_reduce.cuh>

__global__ void k_kernel(int* x) {
  using Reduce = cub::BlockReduce<int, 64>;
  __shared__ Reduce::TempStorage storage;
  const int a = Reduce(storage).Sum(x[threadIdx.x]);       // @first
  const int b = Reduce(storage).Sum(x[64 + threadIdx.x]);  // @second
  if (threadIdx.x == 0) x[0] = a + b;
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 4000));  // @malloc
  CUDA_CHECK(cudaMemset(x, 0, 4000));
  k_kernel<<<1, 64>>>(x);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
