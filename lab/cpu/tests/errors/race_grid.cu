// expect: race_grid.cu:(@load|@store): race in global memory: thread \(0,0,0\) (reads|writes)
//         what thread \(0,0,0\) of block \([0-9],0,0\) (wrote|read) at line (@store|@load), with
//         no order in between
// variant: watched

#include <check.h>

#include <cooperative_groups.h>

__global__ void k_kernel(int* x) {
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  x[blockIdx.x] = 1;
  grid.sync();
  x[10 + blockIdx.x] = x[(blockIdx.x + 1) % 4];       // @store
  x[blockIdx.x + 20] = x[(blockIdx.x + 1) % 4 + 10];  // @load
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 4000));  // @malloc
  CUDA_CHECK(cudaMemset(x, 0, 4000));
  void* arguments[] = {&x};
  CUDA_CHECK(cudaLaunchCooperativeKernel(k_kernel, 4, 1, arguments));  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
