#pragma once

#include <cuda_on_cpu/watch.h>
#include <cuda_on_cpu/where.h>

#include <cstddef>
#include <functional>

namespace cuda_on_cpu {

/// A place in the program that accesses memory: where the compiler put it, or the line itself.
struct Site {
  const void* return_address = nullptr;
  Where where;

  bool operator==(const Site&) const = default;
  Where line() const;

  struct Hash {
    std::size_t operator()(const Site& site) const {
      return std::hash<const void*>()(site.return_address) * 31 +
             std::hash<const void*>()(site.where.file) + 5 * site.where.line;
    }
  };
};

/// A load, a store or an atomic operation of a thread.
struct MemoryAccess {
  const char* address;
  std::size_t bytes;
  Access kind;
  Site site;
  bool of_library;  // it can race, but is not counted
  bool shared;      // in shared memory
  bool uses;        // what was there before counts: no plain write
  bool compares;    // an atomic that changes only what its thread knows
};

/// "reads", "writes", "changes atomically"
const char* verb(Access kind);

}  // namespace cuda_on_cpu
