#pragma once
// cub::DeviceReduce: one call adds up an array. As in CUB, a first call without temporary storage
// says how much it needs.

#include <cub/operators.cuh>

#include <cstdint>

namespace cub {

class DeviceReduce {
 public:
  template <class In, class Out>
  static cudaError_t Sum(void* storage, std::size_t& storage_bytes, In in, Out out,
                         std::int64_t count, cudaStream_t stream = nullptr, CUDA_ON_CPU_CALLER) {
    using T = std::decay_t<decltype(*out)>;
    return Reduce(storage, storage_bytes, in, out, count, cub::Sum{}, T{}, stream, where);
  }
  template <class In, class Out, class Op, class T>
  static cudaError_t Reduce(void* storage, std::size_t& storage_bytes, In in, Out out,
                            std::int64_t count, Op op, T first, cudaStream_t stream = nullptr,
                            CUDA_ON_CPU_CALLER) {
    if (!storage) {
      storage_bytes = 256;
      return cudaSuccess;
    }
    // One thread, in halves: as exact as the tree of a real one.
    cuda_on_cpu::launch(
        [](In in, Out out, std::int64_t count, Op op, T first) {
          *out = count == 0 ? first : op(first, tree<T>(in, 0, count, op));
        },
        1, 1, 0, stream, where)(in, out, count, op, first);
    return cudaPeekAtLastError();
  }

 private:
  template <class T, class In, class Op>
  static T tree(In in, std::int64_t begin, std::int64_t end, Op op) {
    if (end - begin == 1) return static_cast<T>(in[begin]);
    const std::int64_t middle = begin + (end - begin) / 2;
    return op(tree<T>(in, begin, middle, op), tree<T>(in, middle, end, op));
  }
};

}  // namespace cub
