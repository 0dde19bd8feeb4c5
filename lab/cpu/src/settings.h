#pragma once

#include <set>
#include <string>

namespace cuda_on_cpu {

enum class Order { forward, reverse, shuffled };

/// What the environment asks for, by the variables that README.md explains. A value that cannot be
/// understood ends the program.
struct Settings {
  Order order;          ///< LAB_CPU_ORDER
  int workers;          ///< LAB_CPU_WORKERS
  int multiprocessors;  ///< LAB_CPU_MULTIPROCESSORS
  /// LAB_CPU_STRICT, in global memory: the result of an atomic on what nothing has written may
  /// never be read; where two threads write one value, atomics of their kernel may add up both.
  bool strict;
  /// LAB_CPU_REPAIR
  struct Repair {
    std::string kind;
    std::set<int> lines = {};  ///< none: every one

    bool is(const char* some_kind, int some_line) const {
      return kind == some_kind && some_line > 0 && (lines.empty() || lines.count(some_line));
    }
  } repair;
};
const Settings& settings();

}  // namespace cuda_on_cpu
