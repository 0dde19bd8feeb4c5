#pragma once
// cub::WarpReduce: kLanes neighbouring threads add up what each of them has.

#include <cub/operators.cuh>

namespace cub {

template <class T, int kLanes = 32, int kUnused = 0>
class WarpReduce {
  static_assert(
      kLanes >= 1 && kLanes <= 32 && (kLanes & (kLanes - 1)) == 0,
      "CUDA on the CPU does not cover a WarpReduce of other than 1, 2, 4, 8, 16 or 32 lanes");

 public:
  struct TempStorage {
    T value[kLanes];
  };

  explicit WarpReduce(TempStorage& storage) : storage_(storage) {}

  // The result is the first lane's alone; the others get a value without meaning.
  T Sum(T value, CUDA_ON_CPU_CALLER) { return Reduce(value, cub::Sum{}, where); }
  template <class Op>
  CUDA_ON_CPU_NOT_WATCHED T Reduce(T value, Op op, CUDA_ON_CPU_CALLER) {
    using namespace cuda_on_cpu;
    check_in_shared_memory(&storage_, "cub::WarpReduce", where);
    const int lane = cuda_on_cpu::lane() % kLanes;
    const unsigned part = kLanes == 32 ? ~0u : ((1u << kLanes) - 1) << (cuda_on_cpu::lane() - lane);
    warp_ballot(part, false, where);  // the storage may still be in use by the call before
    watch_library_access(&storage_.value[lane], sizeof(T), Access::write, where);
    storage_.value[lane] = value;
    warp_ballot(part, false, where);
    T result = no_result<T>();
    if (lane == 0) {
      watch_library_access(&storage_, sizeof storage_, Access::read, where);
      T lanes[kLanes];
      for (int k = 0; k < kLanes; ++k) lanes[k] = storage_.value[k];
      result = reduce_lanes(lanes, kLanes, op);
    }
    return result;
  }

 private:
  TempStorage& storage_;
};

}  // namespace cub
