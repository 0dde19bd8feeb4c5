#pragma once
// A watcher is told what the threads of a kernel do, and decides whose turn it is. Only watched
// builds have one (src/watch).

#include <cuda_on_cpu/where.h>

#include <cstddef>

namespace cuda_on_cpu {

class Block;
struct Kernel;

class Watcher {
 public:
  virtual ~Watcher() = default;

  virtual void memory_allocated(const char* begin, std::size_t bytes) = 0;
  virtual void memory_released(const char* begin) = 0;
  /// A copy or a fill, made for the host.
  virtual void memory_written(const char* begin, std::size_t bytes) = 0;

  virtual void kernel_begins(const Kernel& kernel) = 0;
  virtual void kernel_ends() = 0;
  virtual void block_resumes(Block& block) = 0;
  virtual void block_ends(Block& block) = 0;
  virtual void thread_ends(Block& block) = 0;

  virtual void block_synchronises(Block& block) = 0;
  virtual void grid_synchronises() = 0;
  /// The running thread has come to a fence for all blocks.
  virtual void thread_fences(Block& block) = 0;
  virtual void warp_synchronises(Block& block, int warp, unsigned lanes) = 0;

  /// Which of the ready lanes of the warp runs next.
  virtual int choose_lane(Block& block, int warp, unsigned ready) = 0;
};

/// The watcher of this program; null if it was not built to be watched.
inline Watcher* installed_watcher = nullptr;
inline Watcher* watcher() { return installed_watcher; }

}  // namespace cuda_on_cpu
