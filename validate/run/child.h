#pragma once

#include <atomic>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

namespace validate {

/// How long a child may run, and how much CPU time it may use itself. The time for which it waits
/// for a CPU, on a busy machine, does not count.
struct TimeLimit {
  double seconds;
  double cpu_seconds;
  TimeLimit(double limit, double of_cpu = INFINITY) : seconds(limit), cpu_seconds(of_cpu) {}
};

struct ChildResult {
  bool started = false;    ///< false: it could not be executed; `output` says why
  bool timed_out = false;  ///< it was ended at the time limit
  double limit = 0;        ///< that limit, in seconds
  int exit_code = -1;      ///< if it exited by itself
  int signal = 0;          ///< if a signal ended it
  double seconds = 0;      ///< from start to end
  double cpu_seconds = 0;  ///< of all its threads, and of the processes that it waited for
  double max_bytes = 0;    ///< the most memory that it had at a time
  std::string output;      ///< stdout and stderr together, the last 64 KiB of them

  /// The last line that it printed and that is not blank: mostly its error message. What would do
  /// something to a terminal is a '?' in it.
  std::string last_line() const;
};

/// Ctrl-C or a termination signal came while a child ran; the child has been ended.
struct Interrupted : std::runtime_error {
  explicit Interrupted(int number) : std::runtime_error("interrupted"), signal(number) {}
  int signal;
};

/// Runs a program, with no input, as a process group of its own, and waits for its end. At the time
/// limit it gets SIGUSR1, which CUDA on the CPU (lab/cpu) answers with where it is, and a moment to
/// do so. Then, and at its end too, every process left in the group is killed, and every other that
/// it has left behind: nothing outlives it, nor this process. Several threads may run a child each;
/// the caller has no other children. A run that becomes `unwanted` is ended early; its result means
/// nothing then. `report` is the file in which the lab's programs say why they end (LAB_REPORT).
/// Throws Interrupted; everything else is in the result.
ChildResult run_child(const std::vector<std::string>& command, const TimeLimit& time_limit,
                      const std::atomic<bool>* unwanted = nullptr, const std::string& report = "");

/// Waits until the build that writes its exit status to the file `built` has ended. Returns whether
/// it made its program: not if it failed, nor if that became `unwanted` meanwhile. "": it has ended
/// long ago. Throws Interrupted.
bool wait_for_build(const std::string& built, const std::atomic<bool>* unwanted = nullptr);

/// From here on Ctrl-C makes run_child throw Interrupted, instead of ending this program at once.
void catch_interrupts();

/// What a signal's number means to the person whose program it ended, for example
/// "SIGSEGV, a memory access that is not allowed".
std::string describe_signal(int signal);

}  // namespace validate
