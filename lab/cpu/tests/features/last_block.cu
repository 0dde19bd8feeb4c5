// The block that comes last adds up what all of them have left: a fence and a counter order it.

#include "check.h"

#include <cuda/atomic>

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

// Each thread fences what it wrote, and the barrier comes after that.
__global__ void each_fences_kernel(int* partial, int* total, unsigned* counter) {
  __shared__ bool is_last;
  partial[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(counter, 1) == gridDim.x - 1;
  __syncthreads();
  if (!is_last) return;
  if (threadIdx.x == 0) *counter = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) {
    atomicAdd(total, partial[b * blockDim.x + threadIdx.x]);
  }
}

// One thread fences for its block; the order that an atomic names is also a fence.
template <bool kByOrder>
__global__ void one_fences_kernel(int* partial, int* total, unsigned* counter) {
  __shared__ bool is_last;
  partial[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned before;
    if (kByOrder) {
      cuda::atomic_ref<unsigned, cuda::thread_scope_device> count(*counter);
      before = count.fetch_add(1, cuda::std::memory_order_acq_rel);
    } else {
      __threadfence();
      before = atomicAdd(counter, 1);
    }
    is_last = before == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  if (threadIdx.x == 0) *counter = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) {
    atomicAdd(total, partial[b * blockDim.x + threadIdx.x]);
  }
}

// A sum by atomics, which the last block puts where it belongs.
__global__ void atomic_sum_kernel(int* sum, int* total, unsigned* counter) {
  __shared__ bool is_last;
  atomicAdd(sum, threadIdx.x);
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    is_last = atomicAdd(counter, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last || threadIdx.x > 0) return;
  *total = *sum;
  *sum = 0;
  *counter = 0;
}

// Several lanes write, and one of them fences and counts for the warp. All lanes learn from it
// whether theirs was the last one.
__global__ void warps_count_kernel(int* partial, int* total, unsigned* counter) {
  const unsigned lane = threadIdx.x % 32, warps = gridDim.x * blockDim.x / 32;
  partial[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
  __syncwarp();
  unsigned before = 0;
  if (lane == 0) {
    __threadfence();
    before = atomicAdd(counter, 1);
  }
  before = __shfl_sync(~0u, before, 0);
  if (before < warps - 1) return;
  if (lane == 0) *counter = 0;
  int sum = 0;
  for (unsigned k = lane; k < gridDim.x * blockDim.x; k += 32) sum += partial[k];
  atomicAdd(total, sum);
}

// The same where each lane fences by itself, and one of the block's warps counts for all.
__global__ void lanes_fence_kernel(int* partial, int* total, unsigned* counter) {
  partial[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
  __threadfence();
  __syncwarp();
  if (threadIdx.x % 32 > 0) return;
  if (atomicAdd(counter, 1) < gridDim.x * blockDim.x / 32 - 1) return;
  *counter = 0;
  for (unsigned k = 0; k < gridDim.x * blockDim.x; ++k) *total += partial[k];
}

// The last block of each row of blocks counts its row: what one block learned of another, it passes
// on.
__global__ void rows_count_kernel(int* partial, int* total, unsigned* counter) {
  if (threadIdx.x > 0) return;
  constexpr unsigned kRow = 8;
  const unsigned row = blockIdx.x / kRow, rows = gridDim.x / kRow;
  for (unsigned k = 0; k < blockDim.x; ++k) partial[blockIdx.x * blockDim.x + k] = k;
  __threadfence();
  if (atomicAdd(&counter[1 + row], 1) < kRow - 1) return;
  __threadfence();
  if (atomicAdd(counter, 1) < rows - 1) return;
  for (unsigned k = 0; k <= rows; ++k) counter[k] = 0;
  for (unsigned k = 0; k < gridDim.x * blockDim.x; ++k) *total += partial[k];
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
  Array<unsigned> counter(1 + blocks);
  for (int k = 0; k <= blocks; ++k) counter[k] = 0;
  for (int repeat = 0; repeat < 3; ++repeat) {
    count[0] = 0;
    count_kernel<<<blocks, 70>>>(counts.data(), count.data(), counter.data());
    FINISHED();
    CHECK_EQUAL(count[0], blocks * 24);
    CHECK_EQUAL(counter[0], 0);
  }

  Array<int> values(blocks * kThreads);
  const int expected_sum = blocks * (kThreads * (kThreads - 1) / 2);
  for (int repeat = 0; repeat < 2; ++repeat) {
    using Kernel = void (*)(int*, int*, unsigned*);
    for (const Kernel kernel :
         {Kernel(each_fences_kernel), Kernel(one_fences_kernel<false>),
          Kernel(one_fences_kernel<true>), Kernel(atomic_sum_kernel), Kernel(warps_count_kernel),
          Kernel(lanes_fence_kernel), Kernel(rows_count_kernel)}) {
      count[0] = values[0] = 0;
      kernel<<<blocks, kThreads>>>(values.data(), count.data(), counter.data());
      FINISHED();
      CHECK_EQUAL(count[0], expected_sum);
      CHECK_EQUAL(counter[0], 0);
    }
  }
  return result();
}
