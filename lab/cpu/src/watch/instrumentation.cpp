// The watcher of a watched build, and the functions that the compiler's instrumentation calls.
//
// A program is compiled with -fsanitize=thread and -fsanitize-coverage=trace-pc, and linked with
// neither: the compiler then calls __tsan_read4(address) before each load of four bytes, and so on,
// and __sanitizer_cov_trace_pc() at each branch. Those functions are here.

#include "watcher.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include <cuda_on_cpu/program.h>

#include "activity.h"
#include "memory/memory.h"
#include "memory/shared_memory.h"
#include "report.h"
#include "run/block.h"
#include "run/queue.h"
#include "watch/access.h"
#include "watch/counters.h"
#include "watch/lockstep.h"
#include "watch/races.h"

// The program's own variables, __device__ ones among them (the linker's names).
extern "C" char __data_start, _end;

namespace cuda_on_cpu {

Where Site::line() const { return return_address ? line_of(return_address) : where; }

const char* verb(Access kind) {
  switch (kind) {
    case Access::read:
      return "reads";
    case Access::write:
    case Access::copy:
      return "writes";
    case Access::atomic:
    case Access::exchange:
    case Access::compare:
      break;
  }
  return "changes atomically";
}

namespace {

class TheWatcher : public Races {
 public:
  TheWatcher() : lockstep_(counters_) {
    memory_allocated(&__data_start, &_end - &__data_start);
    memory_written(&__data_start, &_end - &__data_start);
    installed_watcher = this;
  }

  void write_counts() const {
    const char* path = std::getenv("LAB_CPU_COUNTS");
    if (path && *path && !counters_.write(path)) {
      warn({"other"}, "LAB_CPU_COUNTS=%s: cannot be written", path);
      _exit(kExitCannotWrite);
    }
  }

  void kernel_begins(const Kernel& kernel) override {
    counters_.kernel_begins(kernel.config.where);
    Races::kernel_begins(kernel);
  }
  void thread_ends(Block& block) override { lockstep_.thread_ends(block); }
  int choose_lane(Block&, int warp, unsigned ready) override {
    return lockstep_.choose_lane(warp, ready);
  }

  void enter_call() {
    if (in_kernel_code) lockstep_.enter_call(*Block::current());
  }
  void leave_call() {
    if (in_kernel_code) lockstep_.leave_call(*Block::current());
  }
  void branch(const void* place) {
    if (!in_kernel_code) return;
    const OutsideKernelCode outside;
    lockstep_.stop(*Block::current(), place, nullptr);
  }

  /// `place`: of the code, for the order in which lanes go on. `alignment`: what the type has.
  void see(const void* address, std::size_t bytes, std::size_t alignment, Access kind,
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
    const OutsideKernelCode outside;
    std::size_t offset;
    const bool shared = in_shared_memory(block->shared_memory_begin(), p, &offset);
    const bool own = p >= &__data_start && p < &_end;
    if (!shared && !own && !near_allocation(p)) return;  // a local variable
    const bool compares = kind == Access::compare;
    const bool uses = kind == Access::read || kind == Access::atomic || compares;
    if (kind == Access::exchange || compares) kind = Access::atomic;
    const MemoryAccess access{p, bytes, kind, site, of_library, shared, uses, compares};
    check_bounds(*block, access, alignment, offset, own);
    if (!of_library) lockstep_.stop(*block, place, &access);
    if (kind != Access::copy) Races::access(*block, access);
  }

 private:
  static bool near_allocation(const char* p) {
    // Most accesses go to the allocation of the one before.
    static const Allocation* last = nullptr;
    const auto holds = [p](const Allocation* a) { return a && p >= a->begin && p < a->end(); };
    if (holds(last)) return true;
    last = find_allocation(p);
    if (!holds(last)) last = nearest_allocation(p);  // that one looks at all
    return last;
  }

  static void check_bounds(const Block& block, const MemoryAccess& access, std::size_t alignment,
                           std::size_t offset, bool own) {
    if (own) return;
    const char* const does = verb(access.kind);
    if (access.shared) {
      if (const std::size_t before = before_dynamic_shared(offset)) {
        fail(block.report("shared_before", access.site.line()),
             "%s shared memory %zu bytes before the launch's dynamic part (%s)", does, before,
             block.describe_running_thread().c_str());
      }
      check_dynamic_shared(offset, access.bytes, does, [&] { return access.site.line(); });
      const std::size_t end = shared_variable_end(offset);
      if (offset + access.bytes <= end) return;
      Report report = block.report("shared_end", access.site.line());
      report.access = does;
      fail(report, "%s shared memory %zu bytes past the end of a variable (%s)", does,
           offset + access.bytes - end, block.describe_running_thread().c_str());
    }
    const Allocation* a = find_allocation(access.address);
    if (!a || a->freed || access.bytes > std::size_t(a->end() - access.address)) {
      const bool begins_inside = a && !a->freed && access.address < a->end();
      fail(report_access("out_of_bounds", access.site.line(), does, access.address), "%s %s%s (%s)",
           does, begins_inside ? (std::to_string(access.bytes) + " bytes from ").c_str() : "",
           describe_address(access.address).c_str(),
           block.describe_place_of_running_thread().c_str());
    }
    if (reinterpret_cast<std::uintptr_t>(access.address) % alignment != 0) {
      fail(block.report("misaligned", access.site.line()),
           "%s %zu bytes at an address that is not a multiple of %zu: %s (%s)", does, access.bytes,
           access.bytes, describe_address(access.address).c_str(),
           block.describe_running_thread().c_str());
    }
  }

  Counters counters_;
  Lockstep lockstep_;
};

/// Made when the first access comes, or the first allocation: whichever is earlier needs it. It
/// outlives every other object of the program.
TheWatcher& the_watcher() {
  static TheWatcher& watcher = *new TheWatcher;
  return watcher;
}

struct AtExit {
  AtExit() { the_watcher(); }
  ~AtExit() { the_watcher().write_counts(); }
} at_exit;

}  // namespace

// What the headers report. Not to be inlined: the place is the caller's.
__attribute__((noinline)) void watch_access(const void* p, std::size_t bytes, Access kind,
                                            Where where) {
  the_watcher().see(p, bytes, bytes, kind, __builtin_return_address(0), {nullptr, where}, false);
}
__attribute__((noinline)) void watch_library_access(const void* p, std::size_t bytes, Access kind,
                                                    Where where) {
  the_watcher().see(p, bytes, 1, kind, nullptr, {nullptr, where}, true);
}

}  // namespace cuda_on_cpu

// ---- what the compiler calls --------------------------------------------------------------------

using cuda_on_cpu::Access;
using cuda_on_cpu::installed_watcher;
using cuda_on_cpu::the_watcher;

namespace {
void seen(const void* p, std::size_t bytes, Access kind, const void* caller,
          std::size_t alignment = 1) {
  the_watcher().see(p, bytes, alignment, kind, caller, {caller, {}}, false);
}

void copied(void* to, const void* from, std::size_t bytes, const void* caller) {
  // Two places of the code, of which the read comes first. Both are in the call.
  if (from) seen(from, bytes, Access::read, static_cast<const char*>(caller) - 1);
  seen(to, bytes, Access::write, caller);
}

// The compilers call the functions for 16 bytes also if a type is aligned to 8.
constexpr std::size_t alignment_of(std::size_t bytes) { return bytes < 8 ? bytes : 8; }
}  // namespace

#define ACCESS(name, bytes, kind, alignment) \
  void name(const void* p) { seen(p, bytes, Access::kind, __builtin_return_address(0), alignment); }
#define ACCESSES(bytes)                                          \
  ACCESS(__tsan_read##bytes, bytes, read, alignment_of(bytes))   \
  ACCESS(__tsan_write##bytes, bytes, write, alignment_of(bytes)) \
  ACCESS(__tsan_unaligned_read##bytes, bytes, read, 1)           \
  ACCESS(__tsan_unaligned_write##bytes, bytes, write, 1)

// The compiler's own atomics: std::atomic becomes these. CUDA's report themselves.
#define ATOMIC_READ_CHANGE_WRITE(type, bits, name, builtin)              \
  type __tsan_atomic##bits##_##name(volatile type* p, type value, int) { \
    return builtin(p, value, __ATOMIC_SEQ_CST);                          \
  }
#define COMPARE_EXCHANGE(type, bits, strength)                                            \
  int __tsan_atomic##bits##_compare_exchange_##strength(volatile type* p, type* expected, \
                                                        type value, int, int) {           \
    return __atomic_compare_exchange_n(p, expected, value, false, __ATOMIC_SEQ_CST,       \
                                       __ATOMIC_SEQ_CST);                                 \
  }
#define ATOMICS(type, bits)                                                                      \
  type __tsan_atomic##bits##_load(const volatile type* p, int) {                                 \
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                 \
  }                                                                                              \
  void __tsan_atomic##bits##_store(volatile type* p, type value, int) {                          \
    __atomic_store_n(p, value, __ATOMIC_SEQ_CST);                                                \
  }                                                                                              \
  ATOMIC_READ_CHANGE_WRITE(type, bits, exchange, __atomic_exchange_n)                            \
  ATOMIC_READ_CHANGE_WRITE(type, bits, fetch_add, __atomic_fetch_add)                            \
  ATOMIC_READ_CHANGE_WRITE(type, bits, fetch_sub, __atomic_fetch_sub)                            \
  ATOMIC_READ_CHANGE_WRITE(type, bits, fetch_and, __atomic_fetch_and)                            \
  ATOMIC_READ_CHANGE_WRITE(type, bits, fetch_or, __atomic_fetch_or)                              \
  ATOMIC_READ_CHANGE_WRITE(type, bits, fetch_xor, __atomic_fetch_xor)                            \
  COMPARE_EXCHANGE(type, bits, strong)                                                           \
  COMPARE_EXCHANGE(type, bits, weak)                                                             \
  type __tsan_atomic##bits##_compare_exchange_val(volatile type* p, type expected, type value,   \
                                                  int, int) {                                    \
    __atomic_compare_exchange_n(p, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    return expected;                                                                             \
  }

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) { the_watcher().enter_call(); }
void __tsan_func_exit() { the_watcher().leave_call(); }
void __sanitizer_cov_trace_pc() { the_watcher().branch(__builtin_return_address(0)); }

ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)
void __tsan_read_range(const void* p, std::size_t bytes) {
  seen(p, bytes, Access::read, __builtin_return_address(0));
}
void __tsan_write_range(const void* p, std::size_t bytes) {
  seen(p, bytes, Access::write, __builtin_return_address(0));
}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

ATOMICS(std::uint8_t, 8)
ATOMICS(std::uint16_t, 16)
ATOMICS(std::uint32_t, 32)
ATOMICS(std::uint64_t, 64)
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }

// Newer clangs let these stand in for the ones of the C library; for the others the linker does,
// and for this engine itself: also before there is a watcher.
#define COPIES(prefix)                                                              \
  void* prefix##memcpy(void* to, const void* from, std::size_t bytes) {             \
    if (installed_watcher) copied(to, from, bytes, __builtin_return_address(0));    \
    return __real_memcpy(to, from, bytes);                                          \
  }                                                                                 \
  void* prefix##memmove(void* to, const void* from, std::size_t bytes) {            \
    if (installed_watcher) copied(to, from, bytes, __builtin_return_address(0));    \
    return __real_memmove(to, from, bytes);                                         \
  }                                                                                 \
  void* prefix##memset(void* to, int value, std::size_t bytes) {                    \
    if (installed_watcher) copied(to, nullptr, bytes, __builtin_return_address(0)); \
    return __real_memset(to, value, bytes);                                         \
  }

void* __real_memcpy(void* to, const void* from, std::size_t bytes);
void* __real_memmove(void* to, const void* from, std::size_t bytes);
void* __real_memset(void* to, int value, std::size_t bytes);
COPIES(__tsan_)
COPIES(__wrap_)

}  // extern "C"
