#pragma once
// Shared memory. lab/cpu/filter turns `__shared__ float tile[34][34];` into a SharedVariable, and
// `extern __shared__ float tile[];` into a call of dynamic_shared.

#include <atomic>
#include <cstddef>

namespace cuda_on_cpu {

/// The shared memory of the block that runs now, filled with NaN (bytes 0xff) when it began.
extern constinit thread_local char* shared_memory;
extern constinit thread_local char* dynamic_shared_memory;

constexpr std::size_t kNoPlace = ~std::size_t{0};

/// Finds a place for one more variable, the same in every block. Threads may ask at once, all those
/// of a warp that runs in lockstep: the first one decides.
std::size_t place_shared_variable(std::size_t bytes, std::atomic<std::size_t>* place);

/// A variable in shared memory: a static object of the kernel, which knows where in the block's
/// shared memory the variable stands.
template <class T>
class SharedVariable {
 public:
  static_assert(sizeof(T) <= 48 * 1024, "a kernel has at most 48 KiB of static shared memory");
  T& here() {
    std::size_t place = place_.load(std::memory_order_relaxed);
    if (place == kNoPlace) place = place_shared_variable(sizeof(T), &place_);
    return *reinterpret_cast<T*>(shared_memory + place);
  }

 private:
  std::atomic<std::size_t> place_{kNoPlace};
};

template <class T>
T* dynamic_shared() {
  return reinterpret_cast<T*>(dynamic_shared_memory);
}

}  // namespace cuda_on_cpu
