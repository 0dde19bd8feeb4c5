#pragma once
// Atomic operations, on the types that CUDA has them for. Each returns the value that was there
// before.

#include <cuda_on_cpu/types.h>
#include <cuda_on_cpu/watch.h>
#include <cuda_on_cpu/where.h>

#include <atomic>
#include <cstdint>
#include <type_traits>

namespace cuda_on_cpu {

template <class T, class... Types>
constexpr bool is_one_of = (std::is_same_v<T, Types> || ...);

using ull = unsigned long long;

/// Ends the program if `p` is a variable of the running thread's own: a GPU ends the kernel then.
void refuse_own_variable(const void* p, Where where);

/// The same, at no cost for what lies far from the stack.
__forceinline__ void check_not_own(const void* p, Where where) {
  constexpr std::uintptr_t kMostOwnBytes = 256 * 1024;
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const auto from_lowest = reinterpret_cast<std::uintptr_t>(p) - (here - kMostOwnBytes);
  if (from_lowest < 2 * kMostOwnBytes) refuse_own_variable(p, where);
}

/// *p becomes change(*p) in one step.
template <class T, class Change>
__forceinline__ T change_atomically(T* p, Change change, Where where,
                                    Access access = Access::atomic) {
  check_not_own(p, where);
  watch_access(p, sizeof(T), access, where);
  std::atomic_ref<T> target(*p);
  T old = target.load(std::memory_order_relaxed);
  while (!target.compare_exchange_weak(old, change(old), std::memory_order_acq_rel)) {
  }
  return old;
}

}  // namespace cuda_on_cpu

template <class T>
__forceinline__ T atomicAdd(T* p, std::type_identity_t<T> value,
                            cuda_on_cpu::Where where = cuda_on_cpu::Where::here()) {
  static_assert(cuda_on_cpu::is_one_of<T, int, unsigned, cuda_on_cpu::ull, float, double>,
                "CUDA has atomicAdd of int, unsigned, unsigned long long, float and double");
  return cuda_on_cpu::change_atomically(
      p, [value](T old) { return old + value; }, where);
}
template <class T>
__forceinline__ T atomicSub(T* p, std::type_identity_t<T> value,
                            cuda_on_cpu::Where where = cuda_on_cpu::Where::here()) {
  static_assert(cuda_on_cpu::is_one_of<T, int, unsigned>,
                "CUDA has atomicSub of int and unsigned: add what is below zero");
  return cuda_on_cpu::change_atomically(
      p, [value](T old) { return old - value; }, where);
}
template <class T>
__forceinline__ T atomicExch(T* p, std::type_identity_t<T> value,
                             cuda_on_cpu::Where where = cuda_on_cpu::Where::here()) {
  static_assert(cuda_on_cpu::is_one_of<T, int, unsigned, cuda_on_cpu::ull, float>,
                "CUDA has atomicExch of int, unsigned, unsigned long long and float");
  return cuda_on_cpu::change_atomically(
      p, [value](T) { return value; }, where, cuda_on_cpu::Access::exchange);
}
template <class T>
__forceinline__ T atomicMin(T* p, std::type_identity_t<T> value,
                            cuda_on_cpu::Where where = cuda_on_cpu::Where::here()) {
  static_assert(cuda_on_cpu::is_one_of<T, int, unsigned, long long, cuda_on_cpu::ull>,
                "CUDA has atomicMin of integers of 4 and 8 bytes");
  return cuda_on_cpu::change_atomically(
      p, [value](T old) { return value < old ? value : old; }, where);
}
template <class T>
__forceinline__ T atomicMax(T* p, std::type_identity_t<T> value,
                            cuda_on_cpu::Where where = cuda_on_cpu::Where::here()) {
  static_assert(cuda_on_cpu::is_one_of<T, int, unsigned, long long, cuda_on_cpu::ull>,
                "CUDA has atomicMax of integers of 4 and 8 bytes");
  return cuda_on_cpu::change_atomically(
      p, [value](T old) { return old < value ? value : old; }, where);
}
template <class T>
__forceinline__ T atomicAnd(T* p, std::type_identity_t<T> value,
                            cuda_on_cpu::Where where = cuda_on_cpu::Where::here()) {
  static_assert(cuda_on_cpu::is_one_of<T, int, unsigned, cuda_on_cpu::ull>,
                "CUDA has atomicAnd of int, unsigned and unsigned long long");
  return cuda_on_cpu::change_atomically(
      p, [value](T old) { return old & value; }, where);
}
template <class T>
__forceinline__ T atomicOr(T* p, std::type_identity_t<T> value,
                           cuda_on_cpu::Where where = cuda_on_cpu::Where::here()) {
  static_assert(cuda_on_cpu::is_one_of<T, int, unsigned, cuda_on_cpu::ull>,
                "CUDA has atomicOr of int, unsigned and unsigned long long");
  return cuda_on_cpu::change_atomically(
      p, [value](T old) { return old | value; }, where);
}
template <class T>
__forceinline__ T atomicXor(T* p, std::type_identity_t<T> value,
                            cuda_on_cpu::Where where = cuda_on_cpu::Where::here()) {
  static_assert(cuda_on_cpu::is_one_of<T, int, unsigned, cuda_on_cpu::ull>,
                "CUDA has atomicXor of int, unsigned and unsigned long long");
  return cuda_on_cpu::change_atomically(
      p, [value](T old) { return old ^ value; }, where);
}
template <class T>
__forceinline__ T atomicCAS(T* p, std::type_identity_t<T> expected, std::type_identity_t<T> value,
                            cuda_on_cpu::Where where = cuda_on_cpu::Where::here()) {
  static_assert(cuda_on_cpu::is_one_of<T, int, unsigned, cuda_on_cpu::ull>,
                "CUDA has atomicCAS of int, unsigned and unsigned long long");
  return cuda_on_cpu::change_atomically(
      p, [expected, value](T old) { return old == expected ? value : old; }, where,
      cuda_on_cpu::Access::compare);
}
/// Counts up to `last`, then begins again at 0; atomicDec is its mirror.
__forceinline__ unsigned atomicInc(unsigned* p, unsigned last,
                                   cuda_on_cpu::Where where = cuda_on_cpu::Where::here()) {
  return cuda_on_cpu::change_atomically(
      p, [last](unsigned old) { return old >= last ? 0 : old + 1; }, where);
}
__forceinline__ unsigned atomicDec(unsigned* p, unsigned last,
                                   cuda_on_cpu::Where where = cuda_on_cpu::Where::here()) {
  return cuda_on_cpu::change_atomically(
      p, [last](unsigned old) { return old == 0 || old > last ? last : old - 1; }, where);
}

// Only among the threads of a block, or of the whole system: here the same as on the whole device.
#define CUDA_ON_CPU_SCOPED(name)                                                           \
  template <class T>                                                                       \
  __forceinline__ T name##_block(T* p, std::type_identity_t<T> value,                      \
                                 cuda_on_cpu::Where where = cuda_on_cpu::Where::here()) {  \
    return name(p, value, where);                                                          \
  }                                                                                        \
  template <class T>                                                                       \
  __forceinline__ T name##_system(T* p, std::type_identity_t<T> value,                     \
                                  cuda_on_cpu::Where where = cuda_on_cpu::Where::here()) { \
    return name(p, value, where);                                                          \
  }
CUDA_ON_CPU_SCOPED(atomicAdd)
CUDA_ON_CPU_SCOPED(atomicSub)
CUDA_ON_CPU_SCOPED(atomicExch)
CUDA_ON_CPU_SCOPED(atomicMin)
CUDA_ON_CPU_SCOPED(atomicMax)
CUDA_ON_CPU_SCOPED(atomicAnd)
CUDA_ON_CPU_SCOPED(atomicOr)
CUDA_ON_CPU_SCOPED(atomicXor)
#undef CUDA_ON_CPU_SCOPED
