#pragma once

#include <cuda_on_cpu/watch.h>

#include <cstddef>

#include "run/block.h"
#include "watch/access.h"
#include "watch/counters.h"
#include "watch/lockstep.h"
#include "watch/races.h"

namespace cuda_on_cpu {

/// Is told what the threads of a kernel do, and decides whose turn it is.
class Watcher : public Races {
 public:
  Watcher();

  void kernel_begins(const Kernel& kernel);
  void thread_ends(const Block& block) { lockstep_.thread_ends(block); }
  /// Which of the ready lanes of the warp runs next.
  int choose_lane(int warp, unsigned ready) { return lockstep_.choose_lane(warp, ready); }

  // Of the running code, which may be a kernel's or the host's.
  void enter_call() {
    if (in_kernel_code) lockstep_.enter_call(*Block::current());
  }
  void leave_call() {
    if (in_kernel_code) lockstep_.leave_call(*Block::current());
  }
  void branch(const void* place);
  /// An access. `place`: of the code, for the order in which lanes go on. `alignment`: what the
  /// type has.
  void see(const void* address, std::size_t bytes, std::size_t alignment, Access kind,
           const void* place, Site site, bool of_library);

  /// To the file that LAB_CPU_COUNTS names, if it names one.
  void write_counts() const;

 private:
  Counters counters_;
  Lockstep lockstep_;
};

/// The watcher of this program; null if it was not built to be watched.
inline Watcher* installed_watcher = nullptr;
inline Watcher* watcher() { return installed_watcher; }

}  // namespace cuda_on_cpu
