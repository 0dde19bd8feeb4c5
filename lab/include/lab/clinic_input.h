#pragma once

#include <cstddef>
#include <cstdint>

namespace lab {

/// The inputs of the clinic's kernels are from 0 to kClinicValues - 1.
inline constexpr int kClinicValues = 1000;

/// What every element of an output holds before the kernel runs.
inline constexpr int kNotWritten = -1;

/// Element k of an input of a clinic's kernel, from an integer hash.
inline int clinic_input(std::size_t k) {
  std::uint64_t x = (k + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  return static_cast<int>((x ^ (x >> 31)) % kClinicValues);
}

}  // namespace lab
