#pragma once

#include <cuda_on_cpu/watch.h>

#include <array>
#include <cstddef>

#include "run/block.h"
#include "watch/access.h"
#include "watch/counters.h"
#include "watch/races.h"

namespace cuda_on_cpu {

/// Is told what the threads of a kernel do, and decides whose turn it is: the lanes of a warp run
/// as on a GPU, together, as long as they are at the same place. A lane stops before each access
/// and at each branch. When all have stopped, those at one place go on: the deepest in calls, and
/// of those the first in the code, so that lanes that have skipped something wait for those that
/// have not, and meet them again.
class Watcher : public Races {
 public:
  void kernel_begins(const Kernel& kernel);
  /// The running code, which may be a kernel's or the host's, is at a branch.
  void branch(const void* place);
  /// It accesses memory. `place`: of the code, for the order in which lanes go on. `alignment`: the
  /// type's.
  void see(const void* address, std::size_t bytes, std::size_t alignment, Access kind,
           const void* place, Site site, bool of_library);
  /// A library of the program's does: that can race, but is not counted.
  void see_library(const void* address, std::size_t bytes, Access kind, Where where) {
    see(address, bytes, 1, kind, nullptr, {nullptr, where}, true);
  }
  /// Host code may not access a __device__ variable.
  void check_variable(const void* address, Access kind, const void* return_address) const;
  // It calls a function, or returns from one.
  void enter_call() {
    if (in_kernel_code) ++depth_[Block::current()->running_thread()];
  }
  void leave_call() {
    if (in_kernel_code) --depth_[Block::current()->running_thread()];
  }
  void thread_ends(const Block& block) { depth_[block.running_thread()] = 0; }

  /// Which of the ready lanes of the warp runs next.
  int choose_lane(int warp, unsigned ready);

  /// To the file that LAB_CPU_COUNTS names, if it names one.
  void write_counts() const;

 private:
  struct Stop {
    const void* place;
    int depth;
    const MemoryAccess* access;  // null: at a branch
  };
  struct Warp {
    unsigned stopped = 0;   // lanes before their access
    unsigned released = 0;  // of those that stood at one place, the ones that have yet to go on
  };

  /// The running thread stops there, and gives way to the others. Returns when it may go on.
  void stop(Block& block, const void* place, const MemoryAccess* access);

  Counters counters_;  // told of each access that lanes perform together
  std::array<int, kMaxThreads> depth_{};
  std::array<Stop, kMaxThreads> stop_{};
  std::array<Warp, kMaxWarps> warps_{};
};

/// The watcher of this program, from its first access on; null if it was not built to be watched.
inline Watcher* installed_watcher = nullptr;
inline Watcher* watcher() { return installed_watcher; }

}  // namespace cuda_on_cpu
