// waits: 1
//
// A copy of many rows to the host waits for the GPU once, and not for each row: a wait opens and
// closes all memory, which takes long if there is much of it.

#include "check.h"

#include <vector>

__global__ void count_kernel(int* x, int width) {
  x[blockIdx.x * width + threadIdx.x] = blockIdx.x;
}

int main() {
  constexpr int kRows = 100, kWidth = 32, kTaken = 30;
  int* x;
  CUDA(cudaMalloc(&x, kRows * kWidth * sizeof(int)));
  count_kernel<<<kRows, kWidth>>>(x, kWidth);
  std::vector<int> rows(kRows * kTaken);
  CUDA(cudaMemcpy2D(rows.data(), kTaken * sizeof(int), x, kWidth * sizeof(int),
                    kTaken * sizeof(int), kRows, cudaMemcpyDeviceToHost));
  for (int k = 0; k < kRows * kTaken; ++k) CHECK_EQUAL(rows[k], k / kTaken);
  CUDA(cudaFree(x));
  return result();
}
