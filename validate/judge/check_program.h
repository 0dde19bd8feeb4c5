#pragma once

#include <functional>
#include <string>
#include <vector>

#include <lab/options.h>

#include "run/program_run.h"

namespace validate {

/// The runs that a step is judged by: the three problems at n = 100 and n = 250, which are
/// multiples of no block's shape, and the probe at n = 1043, where a race shows more often.
std::vector<Case> usual_cases();

/// The cases as jobs of ranks. The probe shows most: it is run with each number of them, and the
/// other problems with one after the other. No numbers: the cases as they are.
std::vector<Case> with_ranks(const std::vector<Case>& cases, const std::vector<int>& ranks);

/// The few of them that a GPU runs if CUDA on the CPU runs them all: on a GPU a run takes half a
/// second to begin, and what depends on sizes alone is the same there.
std::vector<Case> cases_for_gpu();

/// How many iterations of `problem` at `n` tell right from wrong.
int usual_iterations(lab::ProblemKind problem, int n);

struct Verdict {
  enum Kind {
    kRight,
    kWrong,
    kNoGpu,          ///< the program found no usable GPU
    kCannotRunHere,  ///< a limit, no space, no launcher: the machine's trouble, not the program's
    kNoProgram,      ///< the program is not there
  };
  Kind kind = kRight;
  std::string summary;               ///< one line
  Case run = {};                     ///< if wrong: the first run that is
  std::vector<std::string> details;  ///< what is wrong and where, for people; empty where right
  std::vector<std::string> remarks;  ///< right, and still worth saying
};

/// What helps to find a cause, where it is at hand; "": it is not.
struct AtHand {
  std::string source;   ///< the program's text, for the words to fit it
  std::string watched;  ///< the same program on the CPU, with every access looked at (lab/cpu)
};

/// What is tried besides the cases, and what is said of it.
struct Extent {
  bool sizes = false;        ///< multiples of every block's shape in use, and a grid beyond 2048
  int own_n = 0;             ///< with `sizes`: the step's own n; 0: it is not tried
  int own_ranks = 0;         ///< of a job at that n; 0: as many as any case has
  bool every_order = false;  ///< the probe also with threads in reverse and in shuffled order, as
                             ///< CUDA on the CPU can run them
  bool few_checks = false;   ///< other distances of residuals (--check-every) for one size only
  bool explain = true;       ///< false: a wrong program's verdict is its first wrong run alone
};

/// Told before each run, with a short description of it.
using Progress = std::function<void(const std::string&)>;

/// Runs `program` for each case, several at a time, and compares field and residuals with the
/// reference. Stops at the first case that is wrong, and there finds the first iteration that is,
/// and the likely cause.
Verdict check_program(const std::string& program, const std::vector<Case>& cases,
                      double time_limit_seconds, const Progress& progress,
                      const AtHand& at_hand = {}, const Extent& extent = {});

}  // namespace validate
