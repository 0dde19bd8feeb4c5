#include "memory/memory.h"

#include <atomic>
#include <cmath>
#include <csignal>
#include <cstring>
#include <ctime>
#include <utility>
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

/// Where the thread stopped, and what it does there with memory.
struct Instruction {
  const char* address;
  const char* verb;
};
Instruction instruction(const ucontext_t& context) {
#if defined(__x86_64__)
  const auto& registers = context.uc_mcontext.gregs;
  return {reinterpret_cast<const char*>(registers[REG_RIP]),
          registers[REG_ERR] & 2 ? "writes" : "reads"};
#else
  return {reinterpret_cast<const char*>(context.uc_mcontext.pc), "accesses"};
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
  const Where where = line_of(instruction(context).address + 1);
  if (where.line > 0) return where;
  const std::vector<Where> lines = calling_lines();
  return lines.empty() ? Where{} : lines.front();
}

/// Host code touches what is closed to it. Returns if it may after all: a page is closed as a
/// whole, and what is queued may use other bytes of it. If not, says what it may not touch, and
/// what to do.
void look_at_host(const ucontext_t& context, const void* address) {
  const char* const verb = instruction(context).verb;
  Allocation* a = nearest_allocation(address);
  const bool inside = a && a->holds(address);
  const QueuedUse use = inside ? queued_use(a, address) : QueuedUse{};
  const bool reads = std::strcmp(verb, "reads") == 0;
  if (inside && a->space != Space::device && (!use.where || (!use.writable && reads))) {
    return open_memory(a);
  }
  const Where where = find_line(context);
  const std::string did = joined("host code ", verb, " ", describe_address(address));
  Report report = report_access("host_access", where, verb, address);
  if (report.place == "null") {
    fail(report, did,
         ": no memory was put into this pointer (cudaMallocManaged and its like put it where their "
         "first argument points)");
  }
  if (inside && a->space == Space::device) {
    report.flags = "device";
    fail(report, did, ": copy it with cudaMemcpy, or allocate it with cudaMallocManaged");
  }
  if (use.where) {
    report.kind = "host_early";
    report.other_line = use.where->line;
    fail(report, did, ", and the ", use.what ? joined(use.what, " queued") : "kernel launched",
         " at ", *use.where, " may not have ended: wait for it (",
         use.what ? "cudaEventSynchronize, or " : "", "cudaDeviceSynchronize)");
  }
  fail(report, did);
}

void on_fault(int signal_number, siginfo_t* info, void* context_pointer) {
  const auto& context = *static_cast<const ucontext_t*>(context_pointer);
  const void* address = info->si_addr;
  const Block* block = Block::current();
  if (!block && signal_number != SIGFPE) return look_at_host(context, address);
  const char* const verb = instruction(context).verb;
  const Where where = find_line(context);
  const std::string who = block ? block->describe_running_thread() : "host code";
  if (signal_number == SIGFPE) {
    fail(report("division", where), "divides an integer by zero (", who, ")");
  }
  if (block->fibre().overflowed_at(address)) {
    block->fail_in_thread(block->report("stack", where), "the thread has more than ",
                          kStackBytes / 1024, " KiB of local variables and calls");
  }
  // The CPU does not say which address was not aligned to what.
  if (info->si_code == SI_KERNEL || (signal_number == SIGBUS && info->si_code == BUS_ADRALN)) {
    block->fail_in_thread(
        block->report("misaligned", where),
        "the address of a float4, or another wide type, is not a multiple of its ",
        "size, or is not an address");
  }
  if (const auto offset = shared_offset(block->shared_memory_begin(), address)) {
    check_shared(*offset, 1, verb, {nullptr, where});
  }
  const Allocation* a = nearest_allocation(address);
  fail(report_access("out_of_bounds", where, verb, address), verb, " ", describe_address(address),
       " (", a && !a->freed ? block->describe_place_of_running_thread() : who, ")");
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
bool in_program(const char* address) { return address >= &__executable_start && address < &etext; }

/// Ends the program with the place where this thread is: in one block for long, in a kernel among
/// many, or in host code. Returns if it will be asked again.
void say_where(const ucontext_t& context) {
  constexpr double kLongSeconds = 0.4;  // a block takes milliseconds
  if (!in_program(instruction(context).address) && look_again()) return;
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
    block->fail_in_thread(block->report("endless_kernel", known ? where : launch),
                          "still runs here, for ", std::lround(block->seconds()), " s");
  }
  if (where.line == 0) fail({"other"}, "host code still runs");
  const std::vector<Where> lines = calling_lines();
  const Where in_main = lines.empty() ? where : lines.back();
  Report report = cuda_on_cpu::report("endless_host", where);
  if (in_main.line != where.line) report.other_line = in_main.line;
  fail(report, "host code still runs here",
       report.other_line > 0 ? joined(" (called at ", in_main, ")") : "");
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
  static bool handled = false;
  if (std::exchange(handled, true)) return;
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  // Not SA_NODEFER: what has spoilt what this handler needs would fault in it, again and again.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE}) sigaction(number, &action, nullptr);
  action.sa_sigaction = on_question;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  constexpr int kQuestions[] = {SIGUSR1, SIGALRM};
  for (const int number : kQuestions) sigaddset(&action.sa_mask, number);
  for (const int number : kQuestions) sigaction(number, &action, nullptr);
  handle_faults_on_this_thread();
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
