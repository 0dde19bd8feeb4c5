// count: @load  global load  4 24 768  96  0  0  0  0
// count: @store global store 4 24 768 192  0  0  0  0
// count: @other global load  4  1  32   4  0  0  0  0
// count: @mine  global load  8  2  64  16  0  0  0  0
// count: @sum   global store 8  1   1   1  0  0  0  0
//
// All blocks and launches of one line count together; another line's have a row of their own. What
// CUB does inside is not counted.

#include <check.h>

#include <cub/block/block_reduce.cuh>

__global__ void copy_kernel(const float* in, float* out) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  const float x = in[k];  // @load
  out[2 * k] = x;         // @store
}

__global__ void other_kernel(const float* in, float* out) {
  if (in[threadIdx.x] > 5) *out = 1;  // @other
}

__global__ void sum_kernel(const double* in, double* out) {
  using Reduce = cub::BlockReduce<double, 64>;
  __shared__ Reduce::TempStorage storage;
  const double mine = in[threadIdx.x];  // @mine
  const double sum = Reduce(storage).Sum(mine);
  if (threadIdx.x == 0) out[0] = sum;  // @sum
}

int main() {
  float *in, *out;
  const size_t bytes = 1024 * sizeof(float);
  CUDA_CHECK(cudaMalloc(&in, bytes));
  CUDA_CHECK(cudaMalloc(&out, bytes));
  CUDA_CHECK(cudaMemset(in, 0, bytes));
  for (int k = 0; k < 3; ++k) copy_kernel<<<4, 64>>>(in, out);
  other_kernel<<<1, 32>>>(in, out);
  sum_kernel<<<1, 64>>>(reinterpret_cast<double*>(in), reinterpret_cast<double*>(out));
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
