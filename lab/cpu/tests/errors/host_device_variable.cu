// expect: host_device_variable.cu:@read: host code reads a __device__ variable, which is the GPU's:
//         copy it with cudaMemcpyFromSymbol or cudaMemcpyToSymbol
// variant: watched

#include <check.h>

__device__ double total = 0.0;
__constant__ float weights[2];

__global__ void k_kernel() { atomicAdd(&total, 1.0 + weights[0]); }

int main() {
  const float two[2] = {2, 2};
  double copied = 0;
  CUDA_CHECK(cudaMemcpyToSymbol(weights, two, sizeof two));
  k_kernel<<<1, 4>>>();
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaMemcpyFromSymbol(&copied, total, sizeof copied));
  return total == copied ? 0 : 1;  // @read
}
