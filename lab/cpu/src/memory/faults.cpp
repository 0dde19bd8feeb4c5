#include "memory/memory.h"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include <execinfo.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "memory/shared_memory.h"
#include "report.h"
#include "run/block.h"
#include "run/queue.h"

// The linker's: where the program's code begins and ends.
extern "C" char __executable_start, etext;

namespace cuda_on_cpu {
namespace {

const void* instruction(const ucontext_t& context) {
#if defined(__x86_64__)
  return reinterpret_cast<const void*>(context.uc_mcontext.gregs[REG_RIP]);
#else
  return reinterpret_cast<const void*>(context.uc_mcontext.pc);
#endif
}

const char* verb(const ucontext_t& context) {
#if defined(__x86_64__)
  return context.uc_mcontext.gregs[REG_ERR] & 2 ? "writes" : "reads";
#else
  (void)context;
  return "accesses";
#endif
}

/// The program's lines whose calls are not over: the last one is that in main.
std::vector<Where> calling_lines() {
  void* frames[32];
  const int count = backtrace(frames, 32);
  std::vector<Where> lines;
  for (int k = 0; k < count; ++k) lines.push_back(line_of(frames[k]));
  std::erase_if(lines, [](Where where) { return where.line == 0; });
  return lines;
}

/// The program's line: where a library's function faulted, that of its caller.
Where find_line(const ucontext_t& context) {
  const Where where = line_of(static_cast<const char*>(instruction(context)) + 1);
  if (where.line > 0) return where;
  const std::vector<Where> lines = calling_lines();
  return lines.empty() ? Where{} : lines.front();
}

/// Whether host code may touch the byte after all: a page is closed as a whole, and what is queued
/// may use other bytes of it. Opens it then.
bool host_may_touch(const void* address, bool reads) {
  const Allocation* a = find_allocation(address);
  if (!a || address >= a->end() || a->freed || a->space == Space::device) return false;
  const QueuedUse use = queued_use(a, address);
  if (use.where && (use.writable || !reads)) return false;
  open_memory(a);
  return true;
}

/// Host code: what it may not touch, and what to do.
[[noreturn]] void fail_on_host(Where where, const char* verb, const void* address) {
  const Allocation* a = nearest_allocation(address);
  const bool inside = a && address >= a->begin && address < a->end() && !a->freed;
  const QueuedUse use = inside ? queued_use(a, address) : QueuedUse{};
  const std::string did = std::string("host code ") + verb + " " + describe_address(address);
  Report report = report_access("host_access", where, verb, address);
  if (is_near_null(address)) {
    fail(report,
         "%s: no memory was put into this pointer (cudaMallocManaged and its like put it where "
         "their first argument points)",
         did.c_str());
  }
  if (inside && a->space == Space::device) {
    report.flags = "device";
    fail(report, "%s: copy it with cudaMemcpy, or allocate it with cudaMallocManaged", did.c_str());
  }
  if (use.where) {
    report.kind = "host_early";
    report.other_line = use.where->line;
    fail(report, "%s, and the %s %s at %s may not have ended: wait for it (%s)", did.c_str(),
         use.what ? use.what : "kernel", use.what ? "queued" : "launched", text(*use.where).c_str(),
         use.what ? "cudaEventSynchronize, or cudaDeviceSynchronize" : "cudaDeviceSynchronize");
  }
  fail(report, "%s", did.c_str());
}

void on_fault(int signal_number, siginfo_t* info, void* context_pointer) {
  const auto& context = *static_cast<const ucontext_t*>(context_pointer);
  const void* address = info->si_addr;
  const bool reads = std::strcmp(verb(context), "reads") == 0;
  if (!Block::current() && signal_number != SIGFPE && host_may_touch(address, reads)) return;
  const Where where = find_line(context);
  const Block* block = Block::current();
  const std::string who = block ? block->describe_running_thread() : "host code";
  if (signal_number == SIGFPE) {
    fail(report("division", where), "divides an integer by zero (%s)", who.c_str());
  }
  if (!block) fail_on_host(where, verb(context), address);

  if (block->fibre().overflowed_at(address)) {
    fail(block->report("stack", where),
         "the thread has more than %zu KiB of local variables and calls (%s)", kStackBytes / 1024,
         who.c_str());
  }
  // The CPU does not say which address was not aligned to what.
  if (info->si_code == SI_KERNEL || (signal_number == SIGBUS && info->si_code == BUS_ADRALN)) {
    fail(block->report("misaligned", where),
         "the address of a float4, or another wide type, is not a multiple of its size, or is not "
         "an address (%s)",
         who.c_str());
  }
  std::size_t offset;
  if (in_shared_memory(block->shared_memory_begin(), address, &offset)) {
    check_shared(offset, 1, verb(context), [&] { return where; });
  }
  const Allocation* a = nearest_allocation(address);
  fail(report_access("out_of_bounds", where, verb(context), address), "%s %s (%s)", verb(context),
       describe_address(address).c_str(),
       a && !a->freed ? block->describe_place_of_running_thread().c_str() : who.c_str());
}

std::atomic<int> looks{0};

/// Asks again in a moment; false: that was often enough.
bool look_again() {
  if (looks++ == 50) return false;
  const itimerval soon{{0, 0}, {0, 1000}};
  return setitimer(ITIMER_REAL, &soon, nullptr) == 0;
}

/// Whether the program's own code runs, and none of a library's: within malloc, say, nothing can be
/// said that needs memory.
bool in_program(const void* instruction) {
  return instruction >= &__executable_start && instruction < &etext;
}

/// Ends the program with the place where this thread is: in one block for long, in a kernel among
/// many, or in host code. Returns if it will be asked again.
void say_where(const ucontext_t& context) {
  constexpr double kLongSeconds = 0.4;  // a block takes milliseconds
  if (!in_program(instruction(context)) && look_again()) return;
  const Where where = find_line(context);
  if (const Block* block = Block::current()) {
    const dim3 grid = gridDim, shape = blockDim;
    const Where launch = block->kernel().config.where;
    if (block->seconds() < kLongSeconds) {
      Report launches = report("endless_launches", launch);
      launches.bytes = long(grid.x) * grid.y * grid.z * shape.x * shape.y * shape.z;
      fail(launches, "kernels are still launched here");
    }
    // Between two fibres only the launch can be seen.
    const bool known = where.line > 0 && where.line != launch.line;
    if (!known && look_again()) return;
    fail(block->report("endless_kernel", known ? where : launch),
         "still runs here, for %.0f s (%s)", block->seconds(),
         block->describe_running_thread().c_str());
  }
  if (where.line == 0) fail({"other"}, "host code still runs");
  const std::vector<Where> lines = calling_lines();
  const Where in_main = lines.empty() ? where : lines.back();
  Report report = cuda_on_cpu::report("endless_host", where);
  if (in_main.line != where.line) report.other_line = in_main.line;
  fail(report, "host code still runs here%s",
       report.other_line > 0 ? (" (called at " + text(in_main) + ")").c_str() : "");
}

/// The signal comes to any one thread; one that runs a block has most to say. As long as a thread
/// is in here it gets no other of these signals: the next thread does.
void on_question(int signal_number, siginfo_t*, void* context_pointer) {
  if (!Block::current()) {
    // Who was asked before needs no time to begin with.
    const timespec others_answer{0, looks == 0 ? 200'000'000 : 10'000'000};
    kill(getpid(), signal_number);
    nanosleep(&others_answer, nullptr);
    if (gettid() != getpid()) return;
  }
  say_where(*static_cast<const ucontext_t*>(context_pointer));
}

}  // namespace

void handle_faults() {
  [[maybe_unused]] static const bool handled = [] {
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    // Not SA_NODEFER: what has spoilt what this handler needs would fault in it, again and again.
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE}) sigaction(number, &action, nullptr);
    action.sa_sigaction = on_question;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    for (const int number : {SIGUSR1, SIGALRM}) sigaction(number, &action, nullptr);
    handle_faults_on_this_thread();
    return true;
  }();
}

// Where a thread's own stack has overflowed, the handler needs another one.
void handle_faults_on_this_thread() {
  constexpr std::size_t kBytes = 256 * 1024;
  stack_t stack{};
  stack.ss_sp = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  stack.ss_size = kBytes;
  if (stack.ss_sp != MAP_FAILED) sigaltstack(&stack, nullptr);
}

}  // namespace cuda_on_cpu
