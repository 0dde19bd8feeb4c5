// expect: race_shared.cu:(@load|@store): race in shared memory: thread \([0-9]+,0,0\)
//         (reads|writes) what thread \([0-9]+,0,0\) (wrote|read) at line (@store|@load), with no
//         barrier in between \(kernel launched at line @launch, block \(0,0,0\): tile\[[0-9]+\]\)
// variant: watched

#include <check.h>

__global__ void k_kernel(int* x) {
  __shared__ int tile[64];
  const int t = threadIdx.x;
  tile[t] = x[t];       // @store
  x[t] = tile[t ^ 32];  // @load
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 4000));  // @malloc
  CUDA_CHECK(cudaMemset(x, 0, 4000));
  k_kernel<<<1, 64>>>(x);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
