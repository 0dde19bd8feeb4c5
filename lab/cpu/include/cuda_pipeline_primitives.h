#pragma once

#include <cuda_runtime.h>

#include <cuda_on_cpu/watch.h>

namespace cuda_on_cpu {
void pipeline_copy(void* to_shared, const void* from_global, std::size_t bytes,
                   std::size_t zero_bytes, Where where);
void pipeline_commit();
void pipeline_wait(int groups_left);
}  // namespace cuda_on_cpu

/// 4, 8 or 16 bytes, aligned to their number; the last `zero_bytes` of them become zero.
inline void __pipeline_memcpy_async(void* to_shared, const void* from_global, std::size_t bytes,
                                    std::size_t zero_bytes = 0, CUDA_ON_CPU_CALLER) {
  cuda_on_cpu::pipeline_copy(to_shared, from_global, bytes, zero_bytes, where);
  // Where it goes is counted, and the load is a request like others.
  cuda_on_cpu::watch_access(to_shared, bytes, cuda_on_cpu::Access::copy, where);
  if (zero_bytes == 0)
    cuda_on_cpu::watch_access(from_global, bytes, cuda_on_cpu::Access::read, where);
}
inline void __pipeline_commit() { cuda_on_cpu::pipeline_commit(); }
/// Waits for all of this thread's committed groups but the last `groups_left`.
inline void __pipeline_wait_prior(int groups_left) { cuda_on_cpu::pipeline_wait(groups_left); }
