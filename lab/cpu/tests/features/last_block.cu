// The block that comes last adds up what all of them have left: a fence and a counter order it.

#include "check.h"

constexpr int kThreads = 128;

__device__ unsigned done_count = 0;

__global__ void sum_kernel(const double* in, int n, double* partial, double* total) {
  __shared__ double part[kThreads];
  __shared__ bool is_last;
  double mine = 0;
  for (int k = blockIdx.x * kThreads + threadIdx.x; k < n; k += gridDim.x * kThreads) mine += in[k];
  part[threadIdx.x] = mine;
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = part[0];
    __threadfence();
    is_last = atomicAdd(&done_count, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;

  mine = 0;
  for (unsigned k = threadIdx.x; k < gridDim.x; k += kThreads) mine += partial[k];
  part[threadIdx.x] = mine;
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    *total = part[0];
    done_count = 0;  // for the next launch
  }
}

// The same with a counter that comes back to zero by itself, and one thread that adds up.
__global__ void count_kernel(int* partial, int* total, unsigned* counter) {
  const int in_block = __syncthreads_count(threadIdx.x % 3 == 0);
  if (threadIdx.x > 0) return;
  partial[blockIdx.x] = in_block;
  __threadfence();
  if (atomicInc(counter, gridDim.x - 1) < gridDim.x - 1) return;
  int sum = 0;
  for (unsigned k = 0; k < gridDim.x; ++k) sum += partial[k];
  *total = sum;
}

int main() {
  const int n = 50000, blocks = 40;
  Array<double> in(n), partial(blocks), total(1);
  double expected = 0;
  for (int k = 0; k < n; ++k) expected += in[k] = k % 13;
  for (int repeat = 0; repeat < 3; ++repeat) {
    total[0] = 0;
    sum_kernel<<<blocks, kThreads>>>(in.data(), n, partial.data(), total.data());
    FINISHED();
    CHECK_EQUAL(total[0], expected);
  }

  Array<int> counts(blocks), count(1);
  Array<unsigned> counter(1);
  for (int repeat = 0; repeat < 3; ++repeat) {
    count[0] = 0;
    count_kernel<<<blocks, 70>>>(counts.data(), count.data(), counter.data());
    FINISHED();
    CHECK_EQUAL(count[0], blocks * 24);
    CHECK_EQUAL(counter[0], 0);
  }
  return result();
}
