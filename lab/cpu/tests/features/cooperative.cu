// Cooperative launches: all blocks wait for each other, again and again. Blocks as groups.

#include "check.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr int kBlocks = 8, kThreads = 40, kCount = kBlocks * kThreads;

// Every thread takes what its neighbour has, over the borders of blocks too.
__global__ void rotate_kernel(int* a, int* b, int rounds) {
  const cg::grid_group grid = cg::this_grid();
  const int k = static_cast<int>(grid.thread_rank()), n = static_cast<int>(grid.size());
  for (int round = 0; round < rounds; ++round) {
    b[k] = a[(k + 1) % n];
    grid.sync();
    int* old = a;
    a = b;
    b = old;
  }
}

// Barriers of the block and of the grid by turns; shared memory lives on.
__global__ void sums_kernel(int* of_block, int* out) {
  const cg::grid_group grid = cg::this_grid();
  const cg::thread_block block = cg::this_thread_block();
  __shared__ int sum;
  if (block.thread_rank() == 0) sum = 100 * blockIdx.x;
  block.sync();
  for (int round = 0; round < 3; ++round) {
    atomicAdd(&sum, 1);
    __syncthreads();
    if (block.thread_rank() == 0) of_block[blockIdx.x] = sum;
    cg::sync(grid);
    if (block.thread_rank() == 0) {
      for (unsigned b = 0; b < gridDim.x; ++b) out[blockIdx.x] += of_block[b];
    }
    cg::sync(block);
    grid.sync();
  }
}

__global__ void ranks_kernel(unsigned long long* out) {
  const cg::grid_group grid = cg::this_grid();
  const cg::thread_block block = cg::this_thread_block();
  const bool right = block.group_index().y == blockIdx.y && block.thread_index().x == threadIdx.x &&
                     block.size() == 6 && grid.num_threads() == 36 && grid.num_blocks() == 6 &&
                     grid.is_valid() && block.dim_threads().x == 3 && block.group_dim().x == 3;
  out[grid.thread_rank()] = right ? 1000 * grid.block_rank() + block.thread_rank() : 0;
}

// Threads may leave, if whole blocks of them do and no thread waits for the grid any more.
__global__ void leaving_kernel(int* out) {
  cg::this_grid().sync();
  if (blockIdx.x % 2) return;
  cg::this_thread_block().sync();
  if (threadIdx.x == 0) out[blockIdx.x] = 1;
}

template <class Kernel>
void launch(Kernel* kernel, dim3 grid, dim3 block, void** arguments, int bytes = 0) {
  CUDA(cudaLaunchCooperativeKernel(kernel, grid, block, arguments, bytes, nullptr));
  CUDA(cudaDeviceSynchronize());
}

int main() {
  int can = 0;
  CUDA(cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, 0));
  CHECK_EQUAL(can, 1);
  int resident = 0;
  CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, rotate_kernel, kThreads, 0));
  CHECK(resident >= 2);

  Array<int> a(kCount), b(kCount);
  for (int rounds : {1, 2, 300}) {
    for (int k = 0; k < kCount; ++k) a[k] = k;
    int *first = a.data(), *second = b.data();
    void* arguments[] = {&first, &second, &rounds};
    launch(rotate_kernel, kBlocks, kThreads, arguments);
    for (int k = 0; k < kCount; ++k) {
      CHECK_EQUAL((rounds % 2 ? b : a)[k], (k + rounds) % kCount);
    }
  }

  Array<int> of_block(kBlocks), out(kBlocks);
  int *p = of_block.data(), *q = out.data();
  void* sums[] = {&p, &q};
  launch(sums_kernel, kBlocks, kThreads, sums);
  int expected = 0;
  for (int round = 1; round <= 3; ++round) expected += 100 * 28 + kBlocks * kThreads * round;
  for (int k = 0; k < kBlocks; ++k) CHECK_EQUAL(out[k], expected);

  Array<unsigned long long> ranks(36);
  unsigned long long* r = ranks.data();
  void* of_ranks[] = {&r};
  launch(ranks_kernel, dim3(2, 3), dim3(3, 2), of_ranks);
  for (int k = 0; k < 36; ++k) CHECK_EQUAL(ranks[k], 1000 * (k / 6) + k % 6);

  for (int k = 0; k < kBlocks; ++k) out[k] = 0;
  void* of_leaving[] = {&q};
  launch(leaving_kernel, kBlocks, kThreads, of_leaving, 1024);
  for (int k = 0; k < kBlocks; ++k) CHECK_EQUAL(out[k], 1 - k % 2);
  return result();
}
