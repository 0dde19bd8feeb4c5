// expect: race_shared_next_round.cu:(@load|@store): race in shared memory: thread \([0-9]+,0,0\)
//         (reads|writes) what thread \([0-9]+,0,0\) (wrote|read) at line (@store|@load), with no
//         barrier in between
// variant: watched

#include <check.h>

// The barrier at the end of the loop is missing.
__global__ void k_kernel(int* x) {
  __shared__ int tile[64];
  const int t = threadIdx.x;
  for (int k = 0; k < 2; ++k) {
    tile[t] = x[64 * k + t];  // @store
    __syncthreads();
    x[64 * k + t] = tile[63 - t];  // @load
  }
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 4000));  // @malloc
  CUDA_CHECK(cudaMemset(x, 0, 4000));
  k_kernel<<<1, 64>>>(x);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
