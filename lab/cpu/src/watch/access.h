#pragma once

#include <cuda_on_cpu/watch.h>
#include <cuda_on_cpu/where.h>

#include <compare>
#include <cstddef>

// The program's own variables, __device__ ones among them (the linker's names).
extern "C" char __data_start, _end;

namespace cuda_on_cpu {

struct Allocation;

/// A place in the program that accesses memory: where the compiler put it, or the line itself.
struct Site {
  const void* return_address = nullptr;
  Where where;

  std::strong_ordering operator<=>(const Site&) const = default;
  Where line() const;
};

/// A load, a store or an atomic operation of a thread.
struct MemoryAccess {
  const char* address;
  std::size_t bytes;
  Access kind;
  Site site;
  bool of_library;       // it can race, but is not counted
  bool shared;           // in shared memory
  const Allocation* in;  // null: in shared memory, or in a variable of the program's own
  bool uses;             // what was there before counts: no plain write
  bool compares;         // an atomic that changes only what its thread knows
};

/// "reads", "writes", "changes atomically"
const char* verb(Access kind);

}  // namespace cuda_on_cpu
