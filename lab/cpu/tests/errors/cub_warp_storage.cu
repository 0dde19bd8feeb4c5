// expect: cub_warp_storage.cu:@sum: the temporary storage of cub::WarpReduce must be in shared
//         memory \(kernel launched at line @launch, block \(0,0,0\), thread \(0,0,0\)\)

#include <check.h>

#include <cub/cub.cuh>

__global__ void sum_kernel() {
  cub::WarpReduce<int>::TempStorage storage{};
  cub::WarpReduce<int>(storage).Sum(1);  // @sum
}

int main() {
  sum_kernel<<<1, 32>>>();  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
