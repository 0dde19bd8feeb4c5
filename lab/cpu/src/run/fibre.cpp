// The glibc that looks into longjmp takes a jump to another stack for a mistake.
#undef _FORTIFY_SOURCE

#include "run/fibre.h"

#include <cerrno>
#include <cstring>

#include <sys/mman.h>

#include "memory/memory.h"
#include "report.h"

namespace cuda_on_cpu {
/// How much address space below each stack nothing may touch: as much as the local variables of a
/// GPU's thread can be, so that no array leaps over it.
static std::size_t guard_bytes() {
  static const std::size_t bytes = address_space_is_limited() ? 4096 : 512 * 1024;
  return bytes;
}

Fibre::Fibre(void (*entry)()) : is_new_(true) {
  static int count = 0;
  stack_ = map_between_guards(guard_bytes(), kStackBytes, 0);
  if (!stack_) fail({"other"}, "no memory for the stack of a thread: ", std::strerror(errno));
  // Stacks that all begin at the same place in a page would share a few lines of the CPU's cache.
  const std::size_t shift = __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED) % 32 * 128;
  getcontext(&beginning_);
  beginning_.uc_stack.ss_sp = stack_;
  beginning_.uc_stack.ss_size = kStackBytes - shift;
  makecontext(&beginning_, entry, 0);
}

Fibre::~Fibre() {
  if (stack_) munmap(stack_ - guard_bytes(), guard_bytes() + kStackBytes);
}

// swapcontext would do, but asks the system for the mask of signals each time. The compiler's own
// setjmp keeps three registers; with the C library's a program of many shuffles takes 1.6 times as
// long. It is not there for every processor.
void Fibre::switch_to(Fibre& other) {
#if defined(__x86_64__)
  if (__builtin_setjmp(place_) != 0) return;
  if (!other.is_new_) __builtin_longjmp(other.place_, 1);
#else
  if (_setjmp(place_) != 0) return;
  if (!other.is_new_) _longjmp(other.place_, 1);
#endif
  other.is_new_ = false;
  setcontext(&other.beginning_);
}

bool Fibre::overflowed_at(const void* address) const {
  return stack_ && address >= stack_ - guard_bytes() && address < stack_;
}

}  // namespace cuda_on_cpu
