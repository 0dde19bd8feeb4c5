#pragma once

#include <set>
#include <string>

namespace cuda_on_cpu {

enum class Order { forward, reverse, shuffled };

/// What the environment asks for. A value that cannot be understood ends the program.
struct Settings {
  /// LAB_CPU_ORDER=forward|reverse|shuffled: in which order the blocks of a grid, the warps of a
  /// block and the threads of a warp get their turn, and the work of streams. A right program does
  /// not care.
  Order order = Order::forward;
  /// LAB_CPU_WORKERS=W: blocks run on W threads of the CPU. Default: one per core.
  int workers = 1;
  /// LAB_CPU_MULTIPROCESSORS=M: a launch that asks how many there are is told M. Default: 4.
  int multiprocessors = 4;
  /// LAB_CPU_STRICT=1: in a watched build also what does no harm by itself is an error: in global
  /// memory, an atomic on what nothing has written (the result may never be read); and two threads
  /// that write the same value to the same place, if their kernel does atomics: it may add up both.
  bool strict = false;
  /// LAB_CPU_REPAIR=KIND or KIND,LINE,...: what every line of the program starts, or these, is done
  /// in another way, to see whether that makes a wrong program right. waits: the host waits for it.
  /// more_x, more_y: 8 times as many blocks.
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
