#pragma once
// Blocks, grids and tiles of a warp as cooperative groups. Coalesced groups are not covered.

#include <cuda_runtime.h>

namespace cooperative_groups {

class thread_block {
 public:
  void sync(CUDA_ON_CPU_CALLER) const { cuda_on_cpu::block_barrier(false, where); }
  static unsigned thread_rank() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  }
  static unsigned num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned size() { return num_threads(); }
  static dim3 group_index() { return blockIdx; }
  static dim3 thread_index() { return threadIdx; }
  static dim3 dim_threads() { return blockDim; }
  static dim3 group_dim() { return blockDim; }  // its older name
};

class grid_group {
 public:
  void sync(CUDA_ON_CPU_CALLER) const { cuda_on_cpu::grid_barrier(where); }
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

/// `Size` neighbouring threads of a warp, in the order of their ranks in the block.
template <unsigned Size, class Parent = thread_block>
class thread_block_tile {
  static_assert(Size > 0 && Size <= 32 && (Size & (Size - 1)) == 0,
                "a tile has 1, 2, 4, 8, 16 or 32 threads here");

  static unsigned first_lane() { return thread_block::thread_rank() % 32 / Size * Size; }
  static constexpr unsigned kLanes = Size == 32 ? ~0u : (1u << Size % 32) - 1;
  static unsigned mask() { return kLanes << first_lane(); }

 public:
  static constexpr unsigned size() { return Size; }
  static constexpr unsigned num_threads() { return Size; }
  static unsigned thread_rank() { return thread_block::thread_rank() % Size; }
  static unsigned meta_group_rank() { return thread_block::thread_rank() / Size; }
  static unsigned meta_group_size() { return (thread_block::num_threads() + Size - 1) / Size; }

  void sync(CUDA_ON_CPU_CALLER) const { __syncwarp(mask(), where); }
  template <class T>
  T shfl(T value, int source, CUDA_ON_CPU_CALLER) const {
    return __shfl_sync(mask(), value, source, Size, where);
  }
  template <class T>
  T shfl_up(T value, unsigned delta, CUDA_ON_CPU_CALLER) const {
    return __shfl_up_sync(mask(), value, delta, Size, where);
  }
  template <class T>
  T shfl_down(T value, unsigned delta, CUDA_ON_CPU_CALLER) const {
    return __shfl_down_sync(mask(), value, delta, Size, where);
  }
  template <class T>
  T shfl_xor(T value, unsigned lanes, CUDA_ON_CPU_CALLER) const {
    return __shfl_xor_sync(mask(), value, lanes, Size, where);
  }
  unsigned ballot(int vote, CUDA_ON_CPU_CALLER) const {
    return __ballot_sync(mask(), vote, where) >> first_lane();
  }
  int any(int vote, CUDA_ON_CPU_CALLER) const { return __any_sync(mask(), vote, where); }
  int all(int vote, CUDA_ON_CPU_CALLER) const { return __all_sync(mask(), vote, where); }
};

template <unsigned Size>
thread_block_tile<Size> tiled_partition(const thread_block&) {
  return {};
}
template <unsigned Size, unsigned ParentSize, class Parent>
thread_block_tile<Size, thread_block_tile<ParentSize, Parent>> tiled_partition(
    const thread_block_tile<ParentSize, Parent>&) {
  static_assert(Size <= ParentSize, "a tile is a part of the one that it is made of");
  return {};
}

inline thread_block this_thread_block() { return {}; }
inline grid_group this_grid() { return {}; }
template <class Group>
void sync(const Group& group, CUDA_ON_CPU_CALLER) {
  group.sync(where);
}

}  // namespace cooperative_groups
