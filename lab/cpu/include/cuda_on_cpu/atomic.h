#pragma once
// Atomic operations, on the types that CUDA has them for. Each returns the value that was there
// before.

#include <cuda_on_cpu/types.h>
#include <cuda_on_cpu/watch.h>
#include <cuda_on_cpu/where.h>

#include <type_traits>

namespace cuda_on_cpu {

template <class T, class... Types>
constexpr bool is_one_of = (std::is_same_v<T, Types> || ...);

/// Ends the program if `p` is a variable of the running thread's own: a GPU ends the kernel then.
void refuse_own_variable(const void* p, Where where);

/// *p becomes change(*p) in one step.
template <class T, class Change>
__forceinline__ T change_atomically(T* p, Change change, Where where,
                                    Access access = Access::atomic) {
  refuse_own_variable(p, where);
  watch_access(p, sizeof(T), access, where);
  T old, changed;
  __atomic_load(p, &old, __ATOMIC_RELAXED);
  do {
    changed = change(old);
  } while (!__atomic_compare_exchange(p, &old, &changed, true, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
  return old;
}

}  // namespace cuda_on_cpu

// CUDA's function `name` of these types: *p becomes `change` of `old` and `value`. With the scope
// of a block it does the same here.
#define CUDA_ON_CPU_ATOMIC(name, change, access, ...)                                             \
  template <class T>                                                                              \
  __forceinline__ T name(T* p, cuda_on_cpu::Same<T> value, CUDA_ON_CPU_CALLER) {                  \
    static_assert(cuda_on_cpu::is_one_of<T, __VA_ARGS__>, "CUDA has " #name " of " #__VA_ARGS__); \
    return cuda_on_cpu::change_atomically(                                                        \
        p, [value]([[maybe_unused]] T old) -> T { return change; }, where,                        \
        cuda_on_cpu::Access::access);                                                             \
  }                                                                                               \
  template <class T>                                                                              \
  __forceinline__ T name##_block(T* p, cuda_on_cpu::Same<T> value, CUDA_ON_CPU_CALLER) {          \
    return name(p, value, where);                                                                 \
  }
// clang-format off
CUDA_ON_CPU_ATOMIC(atomicAdd, old + value, atomic, int, unsigned, unsigned long long, float, double)
CUDA_ON_CPU_ATOMIC(atomicSub, old - value, atomic, int, unsigned)
CUDA_ON_CPU_ATOMIC(atomicExch, value, exchange, int, unsigned, unsigned long long, float)
CUDA_ON_CPU_ATOMIC(atomicMin, value < old ? value : old, atomic,
                   int, unsigned, long long, unsigned long long)
CUDA_ON_CPU_ATOMIC(atomicMax, old < value ? value : old, atomic,
                   int, unsigned, long long, unsigned long long)
// clang-format on
#undef CUDA_ON_CPU_ATOMIC

template <class T>
__forceinline__ T atomicCAS(T* p, cuda_on_cpu::Same<T> expected, cuda_on_cpu::Same<T> value,
                            CUDA_ON_CPU_CALLER) {
  static_assert(cuda_on_cpu::is_one_of<T, int, unsigned, unsigned long long>,
                "CUDA has atomicCAS of int, unsigned and unsigned long long");
  return cuda_on_cpu::change_atomically(
      p, [expected, value](T old) { return old == expected ? value : old; }, where,
      cuda_on_cpu::Access::compare);
}
/// Counts up to `last`, then begins again at 0.
__forceinline__ unsigned atomicInc(unsigned* p, unsigned last, CUDA_ON_CPU_CALLER) {
  return cuda_on_cpu::change_atomically(
      p, [last](unsigned old) { return old >= last ? 0 : old + 1; }, where);
}
