#include "run/fibre.h"

#include <cerrno>
#include <cstring>

#include <sys/mman.h>
#include <sys/resource.h>

#include "report.h"

// cuda_on_cpu_switch(&save, load): pushes what a function has to leave as it found it, keeps the
// stack pointer in `save`, takes `load` for it, pops the same and returns: on the other stack.
#if defined(__x86_64__)
asm(R"(
.text
.globl cuda_on_cpu_switch
.type cuda_on_cpu_switch, @function
cuda_on_cpu_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size cuda_on_cpu_switch, .-cuda_on_cpu_switch
)");
#elif defined(__aarch64__)
asm(R"(
.text
.globl cuda_on_cpu_switch
.type cuda_on_cpu_switch, %function
cuda_on_cpu_switch:
  stp x29, x30, [sp, #-160]!
  stp x19, x20, [sp, #16]
  stp x21, x22, [sp, #32]
  stp x23, x24, [sp, #48]
  stp x25, x26, [sp, #64]
  stp x27, x28, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #16]
  ldp x21, x22, [sp, #32]
  ldp x23, x24, [sp, #48]
  ldp x25, x26, [sp, #64]
  ldp x27, x28, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  ldp x29, x30, [sp], #160
  ret
.size cuda_on_cpu_switch, .-cuda_on_cpu_switch
)");
#else
#error "CUDA on the CPU runs on x86-64 and on 64-bit ARM"
#endif
extern "C" void cuda_on_cpu_switch(void** save, void* load);

namespace cuda_on_cpu {
namespace {

/// How much address space below each stack nothing may touch: as much as the local variables of a
/// GPU's thread can be, so that no array leaps over it. Where address space is limited, a page.
std::size_t guard_bytes() {
  static const std::size_t bytes = [] {
    rlimit limit{};
    const bool limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return std::size_t{limited ? 4096u : 512u * 1024};
  }();
  return bytes;
}

/// The stack of a fibre that has not run yet, as cuda_on_cpu_switch would have left it: registers
/// without meaning, and entry as the place to return to. Returns its stack pointer.
void* prepare_stack(char* top, void (*entry)()) {
#if defined(__x86_64__)
  constexpr int kWords = 8, kReturn = 6;  // six registers, where to, and a caller of entry: none
#else
  constexpr int kWords = 20, kReturn = 1;  // x29, x30 and eighteen more
#endif
  auto* words = reinterpret_cast<void**>(top) - kWords;
  std::memset(words, 0, kWords * sizeof *words);
  words[kReturn] = reinterpret_cast<void*>(entry);
  return words;
}

}  // namespace

const std::size_t kStackBytes = 64 * 1024;

Fibre::Fibre(void (*entry)()) : stack_bytes_(kStackBytes), owned_(true) {
  static int count = 0;
  void* memory = mmap(nullptr, guard_bytes() + stack_bytes_, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  stack_ = static_cast<char*>(memory) + guard_bytes();
  if (memory == MAP_FAILED || mprotect(stack_, stack_bytes_, PROT_READ | PROT_WRITE) != 0) {
    fail("no memory for the stack of a thread: %s", std::strerror(errno));
  }
  // Stacks that all begin at the same place in a page would share a few lines of the CPU's cache.
  const std::size_t shift = __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED) % 16 * 128;
  stack_pointer_ = prepare_stack(stack_ + stack_bytes_ - shift, entry);
}

Fibre::~Fibre() {
  if (!owned_) return;
  munmap(stack_ - guard_bytes(), guard_bytes() + stack_bytes_);
}

void Fibre::switch_to(Fibre& other) { cuda_on_cpu_switch(&stack_pointer_, other.stack_pointer_); }

bool Fibre::holds(const void* address) const {
  return stack_ && address >= stack_ && address < stack_ + stack_bytes_;
}

bool Fibre::overflowed_at(const void* address) const {
  return stack_ && address >= stack_ - guard_bytes() && address < stack_;
}

}  // namespace cuda_on_cpu
