#pragma once
// AddressSanitizer, if the program was built with it: bytes that no code may touch.

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define CUDA_ON_CPU_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CUDA_ON_CPU_ASAN 1
#endif
#endif

#ifdef CUDA_ON_CPU_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace cuda_on_cpu {

inline void poison([[maybe_unused]] const void* p, [[maybe_unused]] std::size_t bytes) {
#ifdef CUDA_ON_CPU_ASAN
  __asan_poison_memory_region(p, bytes);
#endif
}
inline void unpoison([[maybe_unused]] const void* p, [[maybe_unused]] std::size_t bytes) {
#ifdef CUDA_ON_CPU_ASAN
  __asan_unpoison_memory_region(p, bytes);
#endif
}

}  // namespace cuda_on_cpu
