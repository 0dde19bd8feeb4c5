#pragma once

#include <array>

#include "run/block.h"
#include "watch/access.h"
#include "watch/counters.h"

namespace cuda_on_cpu {

/// Runs the lanes of a warp as a GPU does: together, as long as they are at the same place. A lane
/// stops before each access and at each branch. When all have stopped, those at one place go on:
/// the deepest in calls, and of those the first in the code, so that lanes that have skipped
/// something wait for those that have not, and meet them again.
class Lockstep {
 public:
  /// The running thread stops before `access` (null: at a branch) at this place of the code, and
  /// gives way to the others. It returns when it may go on.
  void stop(Block& block, const void* place, const MemoryAccess* access);

  // Of the running code, which may be a kernel's or the host's.
  void enter_call() {
    if (in_kernel_code) ++depth_[Block::current()->running_thread()];
  }
  void leave_call() {
    if (in_kernel_code) --depth_[Block::current()->running_thread()];
  }
  void thread_ends(const Block& block) { depth_[block.running_thread()] = 0; }

  /// Which of the ready lanes of the warp runs next.
  int choose_lane(int warp, unsigned ready);

 protected:
  Counters counters_;  // told of each access that lanes perform together

 private:
  struct Stop {
    const void* place;
    int depth;
    const MemoryAccess* access;
  };
  struct Warp {
    unsigned stopped = 0;   // lanes before their access
    unsigned released = 0;  // of those that stood at one place, the ones that have yet to go on
  };
  std::array<int, kMaxThreads> depth_{};
  std::array<Stop, kMaxThreads> stop_{};
  std::array<Warp, kMaxWarps> warps_{};
};

}  // namespace cuda_on_cpu
