#pragma once
// cub::BlockReduce: the threads of a block add up what each of them has. As CUB does it: first
// within each warp, then the warps' sums in their order.

#include <cub/operators.cuh>
#include <cub/warp/warp_reduce.cuh>  // CUB's own brings it along

namespace cub {

enum BlockReduceAlgorithm {
  BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
  BLOCK_REDUCE_RAKING,
  BLOCK_REDUCE_WARP_REDUCTIONS,
};

template <class T, int kX, BlockReduceAlgorithm kAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS,
          int kY = 1, int kZ = 1, int kUnused = 0>
class BlockReduce {
  static constexpr int kThreads = kX * kY * kZ;

 public:
  struct TempStorage {
    T value[kThreads];
  };

  explicit BlockReduce(TempStorage& storage) : storage_(storage) {}
  /// With storage of its own, which all such reductions of this type in a block share.
  BlockReduce() : storage_(own_storage()) {}

  // The result is thread 0's alone; the others get a value without meaning.
  T Sum(T value, int valid_threads = kThreads, CUDA_ON_CPU_CALLER) {
    return Reduce(value, cub::Sum{}, valid_threads, where);
  }
  /// Several values of each thread, which adds up its own first.
  template <int kItems>
  T Sum(T (&values)[kItems], CUDA_ON_CPU_CALLER) {
    return Reduce(values, cub::Sum{}, where);
  }
  template <int kItems, class Op>
  T Reduce(T (&values)[kItems], Op op, CUDA_ON_CPU_CALLER) {
    T value = values[0];
    for (int k = 1; k < kItems; ++k) value = op(value, values[k]);
    return Reduce(value, op, kThreads, where);
  }
  template <class Op>
  CUDA_ON_CPU_NOT_WATCHED T Reduce(T value, Op op, int valid_threads = kThreads,
                                   CUDA_ON_CPU_CALLER) {
    using namespace cuda_on_cpu;
    check_block_shape("cub::BlockReduce", kX, kY, kZ, where);
    check_in_shared_memory(&storage_, "cub::BlockReduce", where);
    const int thread = threadIdx.x + kX * (threadIdx.y + kY * threadIdx.z);
    watch_library_access(&storage_.value[thread], sizeof(T), Access::write, where);
    storage_.value[thread] = value;
    block_barrier(false, where);
    if (thread != 0) return no_result<T>();

    watch_library_access(&storage_, sizeof storage_, Access::read, where);
    T result{};
    for (int first = 0; first < valid_threads; first += 32) {
      const int count = valid_threads - first < 32 ? valid_threads - first : 32;
      T lanes[32];
      for (int k = 0; k < count; ++k) lanes[k] = storage_.value[first + k];
      const T of_warp = reduce_lanes(lanes, count, op);
      result = first == 0 ? of_warp : op(result, of_warp);
    }
    return result;
  }

 private:
  static TempStorage& own_storage() {
    static cuda_on_cpu::SharedVariable<TempStorage> storage("storage of cub::BlockReduce");
    return storage.here();
  }

  TempStorage& storage_;
};

}  // namespace cub
