#include "watch/watcher.h"

#include <bit>
#include <cstdint>
#include <cstdlib>

#include <unistd.h>

#include <cuda_on_cpu/program.h>

#include "activity.h"
#include "memory/memory.h"
#include "memory/shared_memory.h"
#include "report.h"
#include "run/queue.h"

// Where the program's __device__ variables are (the linker's names), if it has any.
extern "C" __attribute__((weak)) const char __start_cuda_on_cpu_variables[],
    __stop_cuda_on_cpu_variables[];

namespace cuda_on_cpu {

Where Site::line() const { return return_address ? line_of(return_address) : where; }

const char* verb(Access kind) {
  if (kind == Access::read) return "reads";
  return kind == Access::write || kind == Access::copy ? "writes" : "changes atomically";
}

/// Ends the program if the access leaves the memory that it is near to.
static void check_bounds(const Block& block, const MemoryAccess& access, std::size_t alignment) {
  const char* const does = verb(access.kind);
  if (access.shared) {
    return check_shared(access.address - block.shared_memory_begin(), access.bytes, does,
                        access.site);
  }
  const Allocation* a = find_allocation(access.address);
  if (!a || !a->holds(access.address, access.bytes)) {
    const bool begins_inside = a && a->holds(access.address);
    Report found = report_access("out_of_bounds", access.site.line(), does, access.address);
    if (begins_inside) found.place = "past", found.distance = 0, found.flags = "partly";
    fail(found, does, " ", begins_inside ? joined(access.bytes, " bytes from ") : "",
         describe_address(access.address), " (", block.describe_place_of_running_thread(), ")");
  }
  if (reinterpret_cast<std::uintptr_t>(access.address) % alignment != 0) {
    block.fail_in_thread(block.report("misaligned", access.site.line()), does, " ", access.bytes,
                         " bytes at an address that is not a multiple of ", access.bytes, ": ",
                         describe_address(access.address));
  }
}

void Watcher::kernel_begins(const Kernel& kernel) {
  const dim3 grid = kernel.config.grid;
  counters_.kernel_begins(kernel.config.where, std::uint64_t{grid.x} * grid.y * grid.z);
  Races::kernel_begins(kernel);
}

void Watcher::branch(const void* place) {
  if (!in_kernel_code) return;
  const OutsideKernelCode outside;
  stop(*Block::current(), place, nullptr);
}

void Watcher::see(const void* address, std::size_t bytes, std::size_t alignment, Access kind,
                  const void* place, Site site, bool of_library) {
  if (bytes == 0) return;
  Block* block = Block::current();
  const char* p = static_cast<const char*>(address);
  if (!block) {
    if (kind != Access::read) memory_written(p, bytes);
    // What runs in a stream, a copy or a fill, is not the host's.
    if (running_work().line == 0) note_host_access(p);
    return;
  }
  if (!in_kernel_code && !of_library) return;
  if (block->fibre().holds(p)) return;  // a local variable
  const OutsideKernelCode outside;
  const bool shared = shared_offset(block->shared_memory_begin(), p).has_value();
  const bool own = p >= &__data_start && p < &_end;
  const Allocation* in = shared || own ? nullptr : nearest_allocation(p);
  if (!shared && !own && !in) {
    if (const std::size_t before = bytes_before_shared(block->shared_memory_begin(), p)) {
      fail_before_shared(before, verb(kind), site);
    }
    // The engine's own memory; or the host's, to which a member of an argument points.
    for (const PointerArgument& member : block->kernel().members) {
      const char* begin = static_cast<const char*>(member.pointer);
      if (p >= begin && p < begin + sizeof(void*)) host_argument(member, block->kernel().config);
    }
    return;
  }
  const bool compares = kind == Access::compare;
  const bool uses = kind == Access::read || kind == Access::atomic || compares;
  if (kind == Access::exchange || compares) kind = Access::atomic;
  const MemoryAccess access{p, bytes, kind, site, of_library, shared, in, uses, compares};
  if (!own) check_bounds(*block, access, alignment);
  if (!of_library) stop(*block, place, &access);
  Races::access(*block, access);
}

void Watcher::check_variable(const void* address, Access kind, const void* return_address) const {
  const char* p = static_cast<const char*>(address);
  if (p < __start_cuda_on_cpu_variables || p >= __stop_cuda_on_cpu_variables || Block::current()) {
    return;
  }
  Report found = report("host_access", line_of(return_address));
  found.access = verb(kind);
  found.flags = "variable";
  fail(found, "host code ", found.access,
       " a __device__ variable, which is the GPU's: copy it with ",
       "cudaMemcpyFromSymbol or cudaMemcpyToSymbol");
}

void Watcher::stop(Block& block, const void* place, const MemoryAccess* access) {
  const int thread = block.running_thread();
  stop_[thread] = {place, depth_[thread], access};
  warps_[thread / 32].stopped |= 1u << thread % 32;
  block.wait();
}

int Watcher::choose_lane(int number, unsigned ready) {
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

void Watcher::write_counts() const {
  const char* path = std::getenv("LAB_CPU_COUNTS");
  if (path && *path && !counters_.write(path)) {
    warn({"other"}, joined("LAB_CPU_COUNTS=", path, ": cannot be written"));
    _exit(kExitCannotWrite);
  }
}

}  // namespace cuda_on_cpu
