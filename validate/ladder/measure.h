#pragma once

#include <map>
#include <string>
#include <vector>

#include "judge/check_program.h"
#include "ladder/ladder.h"
#include "run/steps.h"

namespace validate {

inline constexpr int kCheckedRanks = 2;  ///< what a job of ranks is validated with at small n

/// How the steps are validated and timed.
struct LadderOptions {
  std::string bin;  ///< where the programs are
  int ranks = 0;    ///< of the jobs that are timed; 0: one for each GPU
};

/// One line that says what goes on: overwritten on a terminal, elsewhere nothing. "": it is gone.
void show_progress(const std::string& what);

/// Validates steps, and times them one after the other. What it has found is in *found, also where
/// it is interrupted.
class Climb {
 public:
  Climb(const LadderOptions& options, Ladder* found) : options_(options), found_(*found) {}

  /// Validates steps, several at a time: to be called before measure(), as nothing may run beside
  /// what is timed. A program that is not there is left out.
  void check(const std::vector<const Step*>& steps);

  /// Adds a row for the step, and prints it. Returns false where the step is wrong or has no time.
  bool measure(const Step& step, const Step* previous);

  /// The CPU's times at every n that was timed: the best code on one core and on all, and the
  /// strided one, which is the first step.
  void measure_cpu(const Step& strided);

 private:
  /// What runs in place of a GPU is validated, and not timed.
  bool in_place_of_gpu(const Step& step) const {
    return step.needs_cuda && !found_.machine.has_gpu;
  }
  std::string program_of(const Step& step) const {
    return options_.bin + "/solution_" + step.name + (in_place_of_gpu(step) ? "_cpu" : "");
  }
  /// Of the job as which the step is timed; 0: it is a program of one process.
  int ranks_of(const Step& step) const {
    if (!step.needs_ranks) return 0;
    return options_.ranks > 0 ? options_.ranks : found_.machine.gpus;
  }
  Timing time(const Step& step, int n, int iterations);
  /// `own_n`: at the step's own n, too.
  Verdict check(const Step& step, bool own_n) const;
  Timing time_before(const Step& step, const Step& previous);

  const LadderOptions& options_;
  Ladder& found_;
  std::map<std::string, Verdict> checked_;  // by the step's name
};

}  // namespace validate
