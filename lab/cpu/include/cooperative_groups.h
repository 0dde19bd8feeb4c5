#pragma once
// Blocks and grids as cooperative groups. Tiles and coalesced groups are not covered.

#include <cuda_runtime.h>

namespace cooperative_groups {

class thread_block {
 public:
  void sync(cuda_on_cpu::Where where = cuda_on_cpu::Where::here()) const {
    cuda_on_cpu::block_barrier(false, where);
  }
  static unsigned thread_rank() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  }
  static unsigned num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned size() { return num_threads(); }
  static dim3 group_index() { return blockIdx; }
  static dim3 thread_index() { return threadIdx; }
  static dim3 dim_threads() { return blockDim; }
  static dim3 group_dim() { return dim_threads(); }
};

class grid_group {
 public:
  void sync(cuda_on_cpu::Where where = cuda_on_cpu::Where::here()) const {
    cuda_on_cpu::grid_barrier(where);
  }
  static dim3 block_index() { return blockIdx; }
  static dim3 thread_index() {
    return {blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y,
            blockIdx.z * blockDim.z + threadIdx.z};
  }
  static dim3 dim_blocks() { return gridDim; }
  static dim3 group_dim() { return dim_blocks(); }
  static dim3 dim_threads() {
    return {gridDim.x * blockDim.x, gridDim.y * blockDim.y, gridDim.z * blockDim.z};
  }
  static unsigned long long block_rank() {
    return blockIdx.x + gridDim.x * (blockIdx.y + 1ULL * gridDim.y * blockIdx.z);
  }
  static unsigned long long num_blocks() { return 1ULL * gridDim.x * gridDim.y * gridDim.z; }
  static unsigned long long thread_rank() {
    return block_rank() * thread_block::num_threads() + thread_block::thread_rank();
  }
  static unsigned long long num_threads() { return num_blocks() * thread_block::num_threads(); }
  static unsigned long long size() { return num_threads(); }
  static bool is_valid() { return true; }
};

inline thread_block this_thread_block() { return {}; }
inline grid_group this_grid() { return {}; }
template <class Group>
void sync(const Group& group, cuda_on_cpu::Where where = cuda_on_cpu::Where::here()) {
  group.sync(where);
}

}  // namespace cooperative_groups
