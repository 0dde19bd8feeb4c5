// The functions that the compiler's instrumentation calls, and that make the watcher. Only watched
// programs are linked with them.
//
// Such a program is compiled with -fsanitize=thread and -fsanitize-coverage=trace-pc, and linked
// with neither: the compiler then calls __tsan_read4(address) before each load of four bytes, and
// so on, and __sanitizer_cov_trace_pc() at each branch. Those functions are here,
// and the one that -fsanitize=alignment calls.

#include "watch/watcher.h"

#include <cstdint>

namespace cuda_on_cpu {

namespace {

/// Made when the first access comes, or the first allocation: whichever is earlier needs it. It
/// outlives every other object of the program.
Watcher& the_watcher() {
  static Watcher& watcher = *(installed_watcher = new Watcher);
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
  the_watcher().see_library(p, bytes, kind, where);
}

}  // namespace cuda_on_cpu

// ---- what the compiler calls --------------------------------------------------------------------

using cuda_on_cpu::Access;
using cuda_on_cpu::installed_watcher;
using cuda_on_cpu::the_watcher;

namespace {
void seen(const void* p, std::size_t bytes, Access kind, const void* caller) {
  the_watcher().see(p, bytes, 1, kind, caller, {caller, {}}, false);
}

void copied(void* to, const void* from, std::size_t bytes, const void* caller) {
  // Two places of the code, of which the read comes first. Both are in the call.
  if (from) seen(from, bytes, Access::read, static_cast<const char*>(caller) - 1);
  seen(to, bytes, Access::write, caller);
}

/// What the compiler says of an access that is misaligned.
struct Misaligned {
  const char* file;
  std::uint32_t line, column;
  const void* type;
  unsigned char log_alignment;  // the type's alignment is 2 to this
  unsigned char kind;           // 1: a store
};
}  // namespace

#define ACCESS(name, bytes, kind)                           \
  void name(const void* p) {                                \
    const void* const caller = __builtin_return_address(0); \
    the_watcher().check_variable(p, Access::kind, caller);  \
    seen(p, bytes, Access::kind, caller);                   \
  }
#define ACCESSES(bytes)                             \
  ACCESS(__tsan_read##bytes, bytes, read)           \
  ACCESS(__tsan_write##bytes, bytes, write)         \
  ACCESS(__tsan_unaligned_read##bytes, bytes, read) \
  ACCESS(__tsan_unaligned_write##bytes, bytes, write)

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
void __ubsan_handle_type_mismatch_v1(const Misaligned* what, const void* p) {
  const std::size_t bytes = std::size_t(1) << what->log_alignment;
  const void* const caller = __builtin_return_address(0);
  the_watcher().see(p, bytes, bytes, what->kind == 1 ? Access::write : Access::read, caller,
                    {caller, {}}, false);
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
