#pragma once

#include <cuda_on_cpu/launch.h>
#include <cuda_on_cpu/memory.h>
#include <cuda_on_cpu/report.h>

#include <cstddef>
#include <memory>
#include <string>

namespace cuda_on_cpu {

struct Word;  // watch/races.h

/// Which call allocated or created something, where, and after how many rounds of the program.
struct Origin {
  const char* call = "";
  Where where;
  int round = 0;

  static Origin now(const char* call, Where where);
};

/// Memory that was allocated, freed again or not: addresses are never given out twice.
struct Allocation {
  char* begin;
  std::size_t bytes;
  Space space;
  Origin origin;
  Where freed_at;
  bool freed;
  char* data;                           // the pages that hold it
  std::size_t data_bytes;               // whole pages
  std::size_t guard_bytes;              // that cannot be touched, on either side
  int protection;                       // PROT_READ and so on: what host code may do with it now
  mutable std::shared_ptr<Word> words;  // its accesses, in a watched program

  char* end() const { return begin + bytes; }
  /// Whether `count` bytes from `p` on are memory of it that can be used.
  bool holds(const void* p, std::size_t count = 1) const {
    return !freed && p >= begin && p <= end() &&
           count <= std::size_t(end() - static_cast<const char*>(p));
  }
};

/// Address space costs nothing, unless it is limited (ulimit -v).
bool address_space_is_limited();

/// New memory, between address space that nothing may touch. Null if there is none; errno says why.
char* map_between_guards(std::size_t before, std::size_t bytes, std::size_t after);

/// The allocation that `p` points into, or right after; null if there is none. Freed ones count.
Allocation* find_allocation(const void* p);

/// The allocation nearest to `p`, if `p` lies in or between the pages of what was allocated.
Allocation* nearest_allocation(const void* p);

/// "4 bytes past the end of the 40000 bytes allocated at jacobi.cu:50"
std::string describe_address(const void* p);

/// A report of an access to `p`, by a kernel's thread that runs, or by host code: "reads".
Report report_access(const char* kind, Where where, const char* access, const void* p);

/// While kernels and copies run, all memory is open. To host code, device memory is closed, and
/// managed or pinned memory that work in the queue may write; what such work only reads, host code
/// may read.
void open_all_memory();
void close_memory_to_host();

/// Opens this memory to host code, until other memory is closed.
void open_memory(Allocation* a);

/// The memory that a kernel's argument points to, null for a null pointer. Ends
/// the program if no kernel can use it.
const Allocation* check_argument(const PointerArgument& argument, const LaunchConfig& config);
/// Ends the program: this argument points to memory of the host.
[[noreturn]] void host_argument(const PointerArgument& argument, const LaunchConfig& config);

/// Before a kernel and after it: ends the program if something, by the host or by the kernel, has
/// been written before an allocation or after it, in what is left of its pages.
void check_padding(bool by_host, Where launched_at);

/// For cudaDeviceReset: frees all memory that is not freed.
void release_all(Where where);

/// A line for each line of the program that allocates memory, or creates a stream, an event or a
/// graph, round after round, and never frees it. Returns how many there are.
int report_growth();

// In faults.cpp.

/// From now on an access to memory that is not there, by this thread of the CPU, ends the program
/// with a line that says whose access it was and what it missed.
void handle_faults_on_this_thread();

/// Sees to it for the thread that calls it first, the program's own. And a program that gets
/// SIGUSR1, as one does that has run for too long, ends with a line that says where it is.
void handle_faults();

}  // namespace cuda_on_cpu
