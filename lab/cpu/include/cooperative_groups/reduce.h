#pragma once
// cooperative_groups::reduce over the threads of a tile: each of them gets the result. (The tree
// may have another shape than a GPU's.)

#include <cooperative_groups.h>
#include <cuda/functional>
#include <cuda/std/functional>

namespace cooperative_groups {

template <class T>
using plus = cuda::std::plus<T>;
template <class T>
using less = cuda::minimum<T>;
template <class T>
using greater = cuda::maximum<T>;

template <unsigned Size, class Parent, class T, class Operation>
T reduce(const thread_block_tile<Size, Parent>& tile, T value, Operation operation,
         CUDA_ON_CPU_CALLER) {
  for (unsigned lanes = Size / 2; lanes > 0; lanes /= 2) {
    value = operation(value, tile.shfl_xor(value, lanes, where));
  }
  return value;
}

}  // namespace cooperative_groups
