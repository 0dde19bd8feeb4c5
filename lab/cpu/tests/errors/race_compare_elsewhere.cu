// expect: race_compare_elsewhere.cu:(@plain|@atomic): race in global memory: thread \(0,0,0\)
//         (reads|changes atomically) what thread \(0,0,0\) of block \([0-9],0,0\) (read|changed
//         atomically) at line (@atomic|@plain), with no order in between
// variant: watched

#include <check.h>

// What is read here is compared with something else: nothing finds out that it was out of date.
__global__ void k_kernel(int* x) {
  const int seen = x[0];  // @plain
  atomicCAS(&x[1], seen, 7);
  atomicAdd(&x[0], 1);  // @atomic
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 4000));
  CUDA_CHECK(cudaMemset(x, 0, 4000));
  k_kernel<<<3, 1>>>(x);
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
