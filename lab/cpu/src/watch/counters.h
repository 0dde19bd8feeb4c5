#pragma once

#include <cuda_on_cpu/where.h>

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "watch/access.h"

namespace cuda_on_cpu {

/// Counts what a GPU's hardware counters count, for each place in the code that accesses memory.
class Counters {
 public:
  void kernel_begins(Where launched_at, std::uint64_t blocks);
  /// One instruction of a warp: the accesses of its lanes.
  void request(const MemoryAccess* const* accesses, int count);

  /// Writes the counts as a table, a line for each line of code, kernel and kind of access. False
  /// if the file cannot be written.
  bool write(const std::string& path) const;

 private:
  struct Count {
    MemoryAccess first;            // of what kind they are
    std::uint64_t requests = 0;    // instructions of a warp
    std::uint64_t threads = 0;     // their lanes that took part
    std::uint64_t sectors = 0;     // of 32 bytes, in global memory
    std::uint64_t wavefronts = 0;  // passes that shared memory needs for its 32 banks ...
    std::uint64_t conflicts = 0;   // ... and those of them that bank conflicts cost
    std::unordered_map<const char*, std::uint64_t> atomics;  // at each address
    std::uint64_t blocks = 0;                                // that get there
    std::pair<std::uint64_t, std::uint64_t> block;  // the last of them: of which launch, its number
  };
  struct KernelCounts {
    std::uint64_t launches = 0, blocks = 0;
    // An asynchronous copy performs two kinds of accesses at one site.
    std::map<std::pair<Site, Access>, Count> places;
  };
  std::map<std::pair<std::string, int>, KernelCounts> kernels_;  // by the line of the launch
  KernelCounts* running_ = nullptr;
};

}  // namespace cuda_on_cpu
