// __syncthreads in loops, branches and functions; its forms that vote; fences.

#include "check.h"

// Every thread takes its neighbour's value, many times over: wrong if one runs ahead.
__global__ void rotate_kernel(int* x, int rounds) {
  const int t = threadIdx.x, n = blockDim.x;
  for (int round = 0; round < rounds; ++round) {
    const int next = x[(t + 1) % n];
    __syncthreads();
    x[t] = next;
    __syncthreads();
  }
}

__device__ void meet() { __syncthreads(); }

// Blocks may take different ways, as long as each of them is of one mind.
__global__ void branch_kernel(int* out) {
  __shared__ int value;
  if (blockIdx.x % 2 == 0) {
    if (threadIdx.x == 40) value = 1;
    __syncthreads();
  } else {
    if (threadIdx.x == 50) value = 2;
    meet();
    meet();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

// In y and z too.
__global__ void volume_kernel(int* out) {
  __shared__ int part[4][4][4];
  const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  part[z][y][x] = 1 + x + 4 * y + 16 * z;
  __syncthreads();
  out[x + 4 * (y + 4 * z)] = part[3 - z][3 - y][3 - x];
}

__global__ void count_kernel(const int* votes, int* count, int* any, int* all) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  count[k] = __syncthreads_count(votes[k]);
  any[k] = __syncthreads_or(votes[k]);
  all[k] = __syncthreads_and(votes[k]);
}

// Ends when no thread has anything left to do.
__global__ void until_done_kernel(int* left, int* rounds) {
  int mine = left[threadIdx.x], round = 0;
  while (__syncthreads_or(mine > 0)) {
    --mine;
    ++round;
  }
  left[threadIdx.x] = mine;
  rounds[threadIdx.x] = round;
}

__global__ void fence_kernel(int* out) {
  __shared__ int value;
  if (threadIdx.x == 0) value = 7;
  __threadfence_block();
  __threadfence();
  __threadfence_system();
  __syncthreads();
  out[threadIdx.x] = value;
}

void rotation() {
  for (const int n : {1, 32, 48, 1024}) {
    Array<int> x(n);
    for (int k = 0; k < n; ++k) x[k] = k;
    rotate_kernel<<<1, n>>>(x.data(), 10);
    FINISHED();
    for (int k = 0; k < n; ++k) CHECK_EQUAL(x[k], (k + 10) % n);
  }
}

void branches() {
  Array<int> out(6 * 64);
  branch_kernel<<<6, 64>>>(out.data());
  FINISHED();
  for (int k = 0; k < 6 * 64; ++k) CHECK_EQUAL(out[k], k / 64 % 2 == 0 ? 1 : 2);
  volume_kernel<<<1, dim3(4, 4, 4)>>>(out.data());
  FINISHED();
  for (int k = 0; k < 64; ++k) CHECK_EQUAL(out[k], 64 - k);
}

void votes() {
  const int threads = 100, blocks = 4;  // nobody, one, all, and those with an odd number
  Array<int> vote(blocks * threads), count(blocks * threads), any(blocks * threads),
      all(blocks * threads);
  const int expected[] = {0, 1, threads, threads / 2};
  for (int k = 0; k < blocks * threads; ++k) {
    const int block = k / threads, t = k % threads;
    vote[k] = block == 1 ? t == 77 : block == 2 ? -5 : block == 3 ? t % 2 : 0;
  }
  count_kernel<<<blocks, threads>>>(vote.data(), count.data(), any.data(), all.data());
  FINISHED();
  for (int k = 0; k < blocks * threads; ++k) {
    const int block = k / threads;
    CHECK_EQUAL(count[k], expected[block]);
    CHECK_EQUAL(any[k] != 0, block != 0);
    CHECK_EQUAL(all[k] != 0, block == 2);
  }

  Array<int> left(70), rounds(70);
  for (int k = 0; k < 70; ++k) left[k] = k % 9;
  until_done_kernel<<<1, 70>>>(left.data(), rounds.data());
  FINISHED();
  for (int k = 0; k < 70; ++k) {
    CHECK_EQUAL(left[k], k % 9 - 8);
    CHECK_EQUAL(rounds[k], 8);
  }
}

int main() {
  rotation();
  branches();
  votes();
  Array<int> out(40);
  fence_kernel<<<1, 40>>>(out.data());
  FINISHED();
  for (int k = 0; k < 40; ++k) CHECK_EQUAL(out[k], 7);
  return result();
}
