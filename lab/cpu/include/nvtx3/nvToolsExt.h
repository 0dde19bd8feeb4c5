#pragma once
// NVTX push/pop ranges where there is no CUDA Toolkit: the same names and headers as NVTX 3, and in
// place of a profiler a table of the ranges at the program's end, if LAB_NVTX=1 is set. One thread.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace lab::nvtx {

using Clock = std::chrono::steady_clock;

/// The ranges of this program: those that are open, and what each name has cost so far.
class Ranges {
 public:
  static Ranges& instance() {
    static Ranges ranges;
    return ranges;
  }

  /// Opens a range inside those that are open; returns their number, as nvtxRangePush does.
  int push(const char* name) {
    if (wanted_) open_.push_back({name, Clock::now()});
    return static_cast<int>(open_.size()) - 1;
  }

  /// Closes the range opened last; returns how many are left open, or a negative number if none
  /// was.
  int pop() {
    if (open_.empty()) return -2;
    const double ms =
        std::chrono::duration<double, std::milli>(Clock::now() - open_.back().start).count();
    Total& total = totals_[open_.back().name];
    ++total.count;
    total.ms += ms;
    if (ms > total.max) total.max = ms;
    open_.pop_back();
    return static_cast<int>(open_.size());
  }

  ~Ranges() {
    if (totals_.empty()) return;
    std::fprintf(stderr, "%12s %8s %12s %12s  range\n", "total ms", "count", "mean ms", "max ms");
    for (const auto& [name, total] : totals_) {
      std::fprintf(stderr, "%12.3f %8d %12.5f %12.5f  %s\n", total.ms, total.count,
                   total.ms / total.count, total.max, name.c_str());
    }
  }

 private:
  struct Open {
    std::string name;
    Clock::time_point start;
  };
  struct Total {
    int count = 0;
    double ms = 0, max = 0;
  };

  bool wanted_ = std::getenv("LAB_NVTX") && std::strcmp(std::getenv("LAB_NVTX"), "1") == 0;
  std::vector<Open> open_;
  std::map<std::string, Total> totals_;
};

}  // namespace lab::nvtx

// Not to be inlined: the compiler is to see in a step what it sees with the toolkit's NVTX, a call.
__attribute__((noinline)) inline int nvtxRangePushA(const char* name) {
  return lab::nvtx::Ranges::instance().push(name);
}
__attribute__((noinline)) inline int nvtxRangePop() { return lab::nvtx::Ranges::instance().pop(); }
#define nvtxRangePush nvtxRangePushA
