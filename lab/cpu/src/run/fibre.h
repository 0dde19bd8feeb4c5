#pragma once
// A fibre is a stack and a place in the code: a thread that runs only when another hands over to
// it. Each thread of a kernel that has to wait has one.

#include <csetjmp>
#include <cstddef>

#include <ucontext.h>

namespace cuda_on_cpu {

/// How much local memory a thread of a kernel has.
inline constexpr std::size_t kStackBytes = 64 * 1024;

class Fibre {
 public:
  /// The flow of control that is there already: the worker's own.
  Fibre() = default;
  /// A new one, whose first switch_to calls entry() on a stack of its own; entry never returns.
  explicit Fibre(void (*entry)());
  ~Fibre();
  Fibre(const Fibre&) = delete;
  Fibre& operator=(const Fibre&) = delete;

  /// From this fibre, which runs, to `other`. Returns when another fibre switches back.
  void switch_to(Fibre& other);

  /// Whether the address lies on the stack.
  bool holds(const void* address) const {
    return stack_ && address >= stack_ && address < stack_ + kStackBytes;
  }

  /// Whether the address lies in the space below the stack, which nothing may touch.
  bool overflowed_at(const void* address) const;

 private:
#if defined(__x86_64__)
  void* place_[5];  // where it goes on
#else
  jmp_buf place_;
#endif
  ucontext_t beginning_;   // where a new one begins
  bool is_new_ = false;    // it has never run
  char* stack_ = nullptr;  // its lowest byte; null: the worker's own
};

}  // namespace cuda_on_cpu
