#pragma once

#include <cuda_on_cpu/watch.h>

#include <cstddef>

#include "run/block.h"
#include "watch/access.h"
#include "watch/lockstep.h"
#include "watch/races.h"

namespace cuda_on_cpu {

/// Is told what the threads of a kernel do, and decides whose turn it is.
class Watcher : public Races, public Lockstep {
 public:
  Watcher();

  void kernel_begins(const Kernel& kernel);
  /// The running code, which may be a kernel's or the host's, is at a branch.
  void branch(const void* place);
  /// It accesses memory. `place`: of the code, for the order in which lanes go on. `alignment`: the
  /// type's.
  void see(const void* address, std::size_t bytes, std::size_t alignment, Access kind,
           const void* place, Site site, bool of_library);

  /// To the file that LAB_CPU_COUNTS names, if it names one.
  void write_counts() const;
};

/// The watcher of this program; null if it was not built to be watched.
inline Watcher* installed_watcher = nullptr;
inline Watcher* watcher() { return installed_watcher; }

}  // namespace cuda_on_cpu
