#pragma once
// In a watched build (see src/watch) the compiler reports every load and store of a kernel.
// What it cannot see, atomics and the insides of CUB, is reported by these.

#include <cuda_on_cpu/where.h>

#include <cstddef>

namespace cuda_on_cpu {

/// `exchange`: an atomic that does not need what was there before.
/// `compare`: one that changes it only if the thread knows it already.
/// `copy`: a thread asks for an asynchronous copy to this shared memory. It is counted there; the
/// write comes later.
enum class Access : unsigned char { read, write, atomic, exchange, compare, copy };

#ifdef CUDA_ON_CPU_WATCHED

/// The running thread is about to access `bytes` bytes at `p`. A library's accesses can race, but
/// are not counted: the real library performs others.
void watch_access(const void* p, std::size_t bytes, Access access, Where where);
void watch_library_access(const void* p, std::size_t bytes, Access access, Where where);

#define CUDA_ON_CPU_NOT_WATCHED __attribute__((no_sanitize("thread"), noinline))
#else

inline void watch_access(const void*, std::size_t, Access, Where) {}
inline void watch_library_access(const void*, std::size_t, Access, Where) {}

#define CUDA_ON_CPU_NOT_WATCHED
#endif

}  // namespace cuda_on_cpu
