#pragma once
// A launch. filter/ turns `kernel<<<grid, block, shared, stream>>>(arguments)` into
// `launch([=](auto&&... a) { kernel(a...); }, grid, block, shared, stream)(arguments)`.

#include <cuda_on_cpu/error.h>
#include <cuda_on_cpu/stream.h>
#include <cuda_on_cpu/types.h>
#include <cuda_on_cpu/where.h>

#include <cstddef>
#include <cstring>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace cuda_on_cpu {

struct LaunchConfig {
  dim3 grid, block;
  std::size_t shared_bytes;
  cudaStream_t stream;
  Where where;
  bool cooperative = false;
  bool by_call = false;  // which returns what is wrong with it
};

/// A pointer among a kernel's arguments: the first argument is number 1.
struct PointerArgument {
  const void* pointer;
  int number;
  bool writable;  // not a pointer to const
  bool member;    // of an object: what stands there may also be something else
};

/// Queues a kernel: `run_thread` is its code for one thread. A bad configuration is an error, which
/// cudaGetLastError returns; a pointer that no kernel can use ends the program.
cudaError_t enqueue_kernel(LaunchConfig config, std::function<void()> run_thread,
                           const std::vector<PointerArgument>& pointers);

template <class T>
void add_pointers(const T& argument, int number, std::vector<PointerArgument>& found) {
  using Type = std::decay_t<T>;
  using Target = std::remove_pointer_t<Type>;
  if constexpr (std::is_pointer_v<Type> && !std::is_function_v<Target>) {
    found.push_back({(const void*)argument, number, !std::is_const_v<Target>, false});
  } else if constexpr (std::is_class_v<Type> && std::is_trivially_copyable_v<Type>) {
    const void* members[sizeof(Type) / sizeof(void*) + 1];
    std::memcpy(members, &argument, sizeof(Type));
    for (std::size_t k = 0; k < sizeof(Type) / sizeof(void*); ++k) {
      found.push_back({members[k], number, false, true});
    }
  }
}
template <class... T>
std::vector<PointerArgument> find_pointers(const T&... arguments) {
  [[maybe_unused]] int number = 0;
  std::vector<PointerArgument> found;
  (add_pointers(arguments, ++number, found), ...);
  return found;
}

/// A literal nullptr among the arguments. The compiler must not know that it is one: what a kernel
/// does with it would be undefined, and left out.
struct NullPointer {
  template <class T>
  operator T*() const {
    T* pointer = nullptr;
    asm volatile("" : "+r"(pointer));
    return pointer;
  }
};
inline NullPointer copy_argument(std::nullptr_t) { return {}; }
template <class T>
std::decay_t<T> copy_argument(T&& argument) {
  return std::forward<T>(argument);
}

/// What launches the kernel with its arguments. They are copied then; it runs when the host waits
/// for it.
template <class Kernel>
auto launch(Kernel kernel, dim3 grid, dim3 block, std::size_t shared_bytes = 0,
            cudaStream_t stream = nullptr, CUDA_ON_CPU_CALLER) {
  return [=](auto&&... arguments) {
    const std::vector<PointerArgument> pointers = find_pointers(arguments...);
    auto run_thread = [kernel, copies = std::make_tuple(copy_argument(
                                   std::forward<decltype(arguments)>(arguments))...)] {
      std::apply(kernel, copies);
    };
    enqueue_kernel({grid, block, shared_bytes, stream, where}, std::move(run_thread), pointers);
  };
}

/// A launch by a call, with the addresses of the arguments.
template <class... Parameters>
cudaError_t launch_by_call(void (*kernel)(Parameters...), const LaunchConfig& config,
                           void** arguments) {
  // In braces: from left to right.
  const std::tuple<std::decay_t<Parameters>...> copies{
      *static_cast<std::decay_t<Parameters>*>(*arguments++)...};
  return enqueue_kernel(
      config, [kernel, copies] { std::apply(kernel, copies); },
      std::apply(find_pointers<std::decay_t<Parameters>...>, copies));
}

}  // namespace cuda_on_cpu

template <class... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments,
                             std::size_t shared_bytes = 0, cudaStream_t stream = nullptr,
                             CUDA_ON_CPU_CALLER) {
  return cuda_on_cpu::launch_by_call(
      kernel, {grid, block, shared_bytes, stream, where, false, true}, arguments);
}
/// All blocks of the kernel run side by side, so that they can wait for each other.
template <class... Parameters>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block,
                                        void** arguments, std::size_t shared_bytes = 0,
                                        cudaStream_t stream = nullptr, CUDA_ON_CPU_CALLER) {
  return cuda_on_cpu::launch_by_call(kernel, {grid, block, shared_bytes, stream, where, true, true},
                                     arguments);
}
