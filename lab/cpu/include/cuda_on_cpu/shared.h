#pragma once
// Shared memory. filter/ turns `__shared__ float tile[34][34];` into a SharedVariable, and
// `extern __shared__ float tile[];` into a call of dynamic_shared, with float[1] as its type.

#include <atomic>
#include <cstddef>
#include <type_traits>

namespace cuda_on_cpu {

/// The shared memory of the block that runs now, filled with NaN (bytes 0xff) when it began.
extern __thread char* shared_memory;
extern __thread char* dynamic_shared_memory;

constexpr std::size_t kNoPlace = ~std::size_t{0};

/// What a variable is called, and what it holds: an array of elements, or one thing.
struct SharedShape {
  static constexpr int kMaxBounds = 4;
  const char* name;
  std::size_t element_bytes;
  int bounds;  // how many
  std::size_t bound[kMaxBounds];
};

/// Finds a place for one more variable, the same in every block. Threads may ask at once, all those
/// of a warp that runs in lockstep: the first one decides.
std::size_t place_shared_variable(const SharedShape& shape, std::size_t bytes,
                                  std::atomic<std::size_t>* place);

/// A variable in shared memory: a static object of the kernel, which knows where in the block's
/// shared memory the variable stands.
template <class T>
class SharedVariable {
 public:
  constexpr explicit SharedVariable(const char* name)
      : shape_{
            name,
            sizeof(std::remove_all_extents_t<T>),
            std::rank_v<T>,
            {std::extent_v<T, 0>, std::extent_v<T, 1>, std::extent_v<T, 2>, std::extent_v<T, 3>}} {}
  static_assert(std::rank_v<T> <= SharedShape::kMaxBounds);
  static_assert(sizeof(T) <= 48 * 1024, "a kernel has at most 48 KiB of static shared memory");
  T& here() {
    std::size_t place = place_.load(std::memory_order_relaxed);
    if (place == kNoPlace) place = place_shared_variable(shape_, sizeof(T), &place_);
    return *reinterpret_cast<T*>(shared_memory + place);
  }

 private:
  const SharedShape shape_;
  std::atomic<std::size_t> place_{kNoPlace};
};

template <class T>
std::remove_extent_t<T>* dynamic_shared() {
  return reinterpret_cast<std::remove_extent_t<T>*>(dynamic_shared_memory);
}

}  // namespace cuda_on_cpu
