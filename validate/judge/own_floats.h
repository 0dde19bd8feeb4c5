#pragma once

#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace validate {

/// Memory that is not written when a vector of it is created: the thread that writes a page first
/// has it in its own part of the machine's memory.
template <typename T>
struct Unwritten : std::allocator<T> {
  template <typename U>
  struct rebind {
    using other = Unwritten<U>;
  };
  template <typename U>
  void construct(U* at) {
    ::new (static_cast<void*>(at)) U;
  }
  template <typename U, typename... Values>
  void construct(U* at, Values&&... values) {
    ::new (static_cast<void*>(at)) U(std::forward<Values>(values)...);
  }
};

/// Floats that lie near the threads that first write them.
using OwnFloats = std::vector<float, Unwritten<float>>;

/// One row's update; returns the sum of its squared changes.
double sweep_row(float* __restrict__ out, const float* __restrict__ south,
                 const float* __restrict__ middle, const float* __restrict__ north, int n);

}  // namespace validate
