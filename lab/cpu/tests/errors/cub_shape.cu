// expect: cub_shape.cu:@sum: cub::BlockReduce is made for a block of 128 x 1 x 1 threads, but
//         this one has 32 x 4 x 1 \(kernel launched at line @launch, block \(0,0,0\), thread
//         \(0,0,0\)\)

#include <check.h>

#include <cub/block/block_reduce.cuh>

__global__ void sum_kernel() {
  using Reduce = cub::BlockReduce<double, 128>;
  __shared__ Reduce::TempStorage storage;
  Reduce(storage).Sum(1.0);  // @sum
}

int main() {
  sum_kernel<<<1, dim3(32, 4)>>>();  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
