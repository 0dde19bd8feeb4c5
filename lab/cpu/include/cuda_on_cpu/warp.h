#pragma once
// What the 32 threads of a warp do together: shuffles, votes, __syncwarp.

#include <cuda_on_cpu/thread.h>
#include <cuda_on_cpu/where.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace cuda_on_cpu {

/// The running thread's lane, 0 to 31.
int lane();

/// Waits for the lanes in `mask`, each of which brings a value; returns that of `source_lane`.
std::uint64_t warp_exchange(unsigned mask, std::uint64_t value, int source_lane, Where where);

/// Waits for the lanes in `mask`; returns those of them whose vote is true, as bits.
unsigned warp_ballot(unsigned mask, bool vote, Where where);

template <class T>
T shuffle(unsigned mask, T value, int source_lane, Where where) {
  static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8, "a shuffle moves one number");
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  bits = warp_exchange(mask, bits, source_lane, where);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace cuda_on_cpu

inline void __syncwarp(unsigned mask = ~0u, CUDA_ON_CPU_CALLER) {
  cuda_on_cpu::warp_ballot(mask, false, where);
}

// A warp may be split into parts of `width` lanes (a power of two); no shuffle leaves its part.
template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32, CUDA_ON_CPU_CALLER) {
  const int part = cuda_on_cpu::lane() & ~(width - 1);
  return cuda_on_cpu::shuffle(mask, value, part + (source & (width - 1)), where);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, CUDA_ON_CPU_CALLER) {
  const int lane = cuda_on_cpu::lane(), part = lane & ~(width - 1);
  const int source = lane - static_cast<int>(delta);
  return cuda_on_cpu::shuffle(mask, value, source >= part ? source : lane, where);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, CUDA_ON_CPU_CALLER) {
  const int lane = cuda_on_cpu::lane(), part = lane & ~(width - 1);
  const int source = lane + static_cast<int>(delta);
  return cuda_on_cpu::shuffle(mask, value, source < part + width ? source : lane, where);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32, CUDA_ON_CPU_CALLER) {
  const int lane = cuda_on_cpu::lane(), part = lane & ~(width - 1);
  const int source = lane ^ lanes;
  return cuda_on_cpu::shuffle(mask, value, source < part + width ? source : lane, where);
}

inline unsigned __ballot_sync(unsigned mask, int vote, CUDA_ON_CPU_CALLER) {
  return cuda_on_cpu::warp_ballot(mask, vote != 0, where);
}
inline int __any_sync(unsigned mask, int vote, CUDA_ON_CPU_CALLER) {
  return cuda_on_cpu::warp_ballot(mask, vote != 0, where) != 0;
}
inline int __all_sync(unsigned mask, int vote, CUDA_ON_CPU_CALLER) {
  return cuda_on_cpu::warp_ballot(mask, vote == 0, where) == 0;
}
