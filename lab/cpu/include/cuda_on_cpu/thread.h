#pragma once
// What a thread of a kernel knows of itself, and how it waits for its block.

#include <cuda_on_cpu/types.h>
#include <cuda_on_cpu/where.h>

// A worker runs one thread of a kernel at a time, and sets these before it does.
extern __thread uint3 threadIdx, blockIdx;
extern __thread dim3 blockDim, gridDim;
constexpr int warpSize = 32;

namespace cuda_on_cpu {

/// Waits until every thread of the block is here; returns how many `vote` for it. Where not every
/// thread comes, the program ends with a message.
int block_barrier(bool vote, Where where);

/// The same for all blocks of a cooperative launch.
void grid_barrier(Where where);

/// What a kernel with __launch_bounds__(most) begins with: ends the program if a block has more
/// threads.
void check_launch_bounds(long long most, CUDA_ON_CPU_CALLER);

/// A memory fence of the running thread: for its block, or for all blocks.
void block_fence();
void thread_fence();

}  // namespace cuda_on_cpu

inline void __syncthreads(CUDA_ON_CPU_CALLER) { cuda_on_cpu::block_barrier(false, where); }
inline int __syncthreads_count(int vote, CUDA_ON_CPU_CALLER) {
  return cuda_on_cpu::block_barrier(vote != 0, where);
}
inline int __syncthreads_or(int vote, CUDA_ON_CPU_CALLER) {
  return cuda_on_cpu::block_barrier(vote != 0, where) > 0;
}
inline int __syncthreads_and(int vote, CUDA_ON_CPU_CALLER) {
  return cuda_on_cpu::block_barrier(vote == 0, where) == 0;
}
inline void __threadfence() { cuda_on_cpu::thread_fence(); }
inline void __threadfence_block() { cuda_on_cpu::block_fence(); }
inline void __threadfence_system() { cuda_on_cpu::thread_fence(); }
