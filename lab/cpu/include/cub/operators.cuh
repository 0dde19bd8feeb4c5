#pragma once

#include <cuda_runtime.h>
#include <cuda/functional>
#include <cuda/std/functional>

#include <limits>

namespace cub {

using Sum = cuda::std::plus<>;
using Max = cuda::maximum<>;
using Min = cuda::minimum<>;

}  // namespace cub

namespace cuda_on_cpu {

/// What a thread gets if only another thread has the result: a value that shows when it is used, if
/// the type has a NaN.
template <class T>
T no_result() {
  return std::numeric_limits<T>::quiet_NaN();
}

/// As shuffles do it: lane k takes lane k + 1, then k + 2, k + 4 ...
template <class T, class Op>
T reduce_lanes(T* lanes, int count, Op op) {
  for (int distance = 1; distance < 32; distance *= 2) {
    for (int k = 0; k + distance < count; ++k) lanes[k] = op(lanes[k], lanes[k + distance]);
  }
  return lanes[0];
}

/// Ends the program if a kernel's block is not the one that its collective was made for.
void check_block_shape(const char* collective, int x, int y, int z, Where where);
/// ... if the temporary storage of a collective is not in shared memory.
void check_in_shared_memory(const void* storage, const char* collective, Where where);

}  // namespace cuda_on_cpu
