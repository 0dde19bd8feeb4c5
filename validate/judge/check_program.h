#pragma once

#include <atomic>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "explain/explain_case.h"
#include "judge/cases.h"
#include "run/program_run.h"

namespace validate {

struct Verdict {
  enum Kind {
    kRight,
    kWrong,
    kNoGpu,          ///< the program found no usable GPU
    kCannotRunHere,  ///< a limit, no space, no launcher: the machine's trouble, not the program's
    kNoProgram,      ///< the program is not there; if its build failed, who builds it says why
    kByCycles,       ///< its iterations are no sweeps: this is for check_cycles
  };
  Kind kind = kRight;
  bool too_slow = false;     ///< wrong, as a run did not end in time
  std::string summary = {};  ///< one line
  Case run = {};             ///< if wrong: the first run that is
  std::string rule = {};     ///< the entry of the catalogue of mistakes; "": none fits
  /// What is wrong and where, for people; empty if right.
  std::vector<std::string> details = {};
  std::vector<std::string> remarks = {};  ///< right, and still worth saying

  // Each of these says what it is. becomes() is true, for cannot_run.
  bool becomes(Kind what, const std::string& said);
  void becomes_right(int runs, const std::set<int>& sizes, const std::string& how);
  void becomes_wrong(const Case& first_wrong, const Explanation& found);
  /// If this machine, and not the program, kept the run from a result.
  bool cannot_run(const Run& run);
};

/// What is said of a right program that was looked at.
constexpr const char* kNothingSeen =
    "No race, no access out of bounds, no read of memory that nothing wrote.";

/// What is tried besides the cases, and what is said of it.
struct Extent {
  bool sizes = false;        ///< multiples of every block's shape in use, and a grid beyond 2048
  int own_n = 0;             ///< the step's own n; 0: it is not tried
  int own_ranks = 0;         ///< of a job at that n; 0: as many as any case has
  bool every_order = false;  ///< the probe also with threads in reverse and in shuffled order, as
                             ///< CUDA on the CPU can run them
  bool few_checks = false;  ///< other distances of residuals (--check-every) for one size only, and
                            ///< for jobs of ranks as the cases have them
  bool watched = false;     ///< every access is looked at, which takes its time
  bool explain = true;      ///< false: a wrong program's verdict is its first wrong run alone
  /// Short runs in which every access is looked at, if they are wanted: made once the small grids
  /// are right, before the largest. If they are wrong, so is the program.
  std::function<Verdict()> look = {};
  /// Becomes true when no run is wanted any more, by who asks (the verdict means nothing then) or
  /// once the verdict is known.
  std::atomic<bool>* unwanted = nullptr;
  /// Once it is true the verdict is known elsewhere: no question is asked any more.
  const std::atomic<bool>* decided = nullptr;
};

/// Runs `program` for each case, several at a time, and compares field and residuals with the
/// reference. Stops at the first case that is wrong, and there finds the first iteration that is,
/// and the likely cause.
Verdict check_program(const std::string& program, const std::vector<Case>& cases,
                      double time_limit_seconds, const Progress& progress,
                      const AtHand& at_hand = {}, const Extent& extent = {});

}  // namespace validate
