#pragma once

#include <functional>
#include <string>
#include <vector>

#include <lab/options.h>

#include "program_run.h"

namespace validate {

/// The runs that a step is judged by: the three problems at n = 100 and n = 250, which are
/// multiples of no block's shape, the probe at n = 1043, where a race shows more often, and at each
/// further size laplace and probe for a few iterations.
std::vector<Case> usual_cases(const std::vector<int>& further_sizes = {});

/// The cases as jobs of ranks. The probe shows most: it is run with each number of them, and the
/// other problems with one after the other. No numbers: the cases as they are.
std::vector<Case> with_ranks(const std::vector<Case>& cases, const std::vector<int>& ranks);

/// How many iterations of `problem` at `n` tell right from wrong.
int usual_iterations(lab::ProblemKind problem, int n);

struct Verdict {
  enum Kind {
    kRight,
    kWrong,
    kNoGpu,      ///< the program found no usable GPU
    kCannotRun,  ///< the program is not there, or a record folder could not be made
  };
  Kind kind = kRight;
  std::string summary;               ///< one line
  std::vector<std::string> details;  ///< what is wrong and where, for people; empty where right
  std::vector<std::string> remarks;  ///< right, and still worth saying
};

/// What helps to find a cause, where it is at hand; "": it is not.
struct AtHand {
  std::string source;   ///< the program's text, for the words to fit it
  std::string watched;  ///< the same program on the CPU, with every access looked at (lab/cpu)
};

/// Told before each run, with a short description of it.
using Progress = std::function<void(const std::string&)>;

/// Runs `program` for each case and holds field and residuals against the reference. Stops at the
/// first case that is wrong, and there finds the first iteration that is, and the likely cause.
Verdict check_program(const std::string& program, const std::vector<Case>& cases,
                      double time_limit_seconds, const Progress& progress,
                      const AtHand& at_hand = {});

/// A temporary folder that is gone, with all that is in it, when this object is.
class TemporaryFolder {
 public:
  /// Below $TMPDIR, or /tmp. Throws std::runtime_error where it cannot be made.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace validate
