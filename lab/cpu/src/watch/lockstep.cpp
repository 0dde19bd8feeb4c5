#include "watch/lockstep.h"

#include <bit>

namespace cuda_on_cpu {

void Lockstep::stop(Block& block, const void* place, const MemoryAccess* access) {
  const int thread = block.running_thread();
  stop_[thread] = {place, depth_[thread], access};
  warps_[thread / 32].stopped |= 1u << thread % 32;
  block.wait();
}

int Lockstep::choose_lane(int number, unsigned ready) {
  Warp& warp = warps_[number];
  const int first = 32 * number;
  if (!(warp.released & ready)) {
    // A lane that has just begun, or comes from a barrier, runs to its next stop.
    if (const unsigned moving = ready & ~warp.stopped) return std::countr_zero(moving);

    const Stop* best = nullptr;
    unsigned group = 0;
    for (unsigned rest = ready; rest; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      const Stop& stop = stop_[first + lane];
      if (best && stop.depth == best->depth && stop.place == best->place) {
        group |= 1u << lane;
      } else if (!best || stop.depth > best->depth ||
                 (stop.depth == best->depth && stop.place < best->place)) {
        best = &stop;
        group = 1u << lane;
      }
    }
    if (best->access) {
      const MemoryAccess* accesses[32];
      int count = 0;
      for (unsigned rest = group; rest; rest &= rest - 1) {
        accesses[count++] = stop_[first + std::countr_zero(rest)].access;
      }
      counters_.request(accesses, count);
    }
    warp.released = group;
    warp.stopped &= ~group;
  }
  const int lane = std::countr_zero(warp.released & ready);
  warp.released &= ~(1u << lane);
  return lane;
}

}  // namespace cuda_on_cpu
