#include "judge/stopping.h"

#include <algorithm>
#include <cmath>

#include <lab/exit_codes.h>

#include "judge/compare.h"
#include "run/text.h"

namespace validate {

Case run_to_tolerance(const std::vector<Case>& cases) {
  for (Case run : cases) {
    if (run.problem == lab::ProblemKind::kLaplace && run.n >= 20 && run.n <= 250 &&
        run.iterations > kMeets) {
      for (const Case& other : cases) {
        if (other.n == run.n) run.ranks = std::max(run.ranks, other.ranks);
      }
      run.iterations = 200;  // past two checks of any step
      return run;
    }
  }
  Case none;
  none.iterations = 0;
  return none;
}

std::vector<std::string> check_stopping(const Run& trial, const Case& run,
                                        const std::vector<double>& expected, bool sparse) {
  const int made = trial.record.iterations;
  std::vector<std::string> lines = {
      format("its residual meets --tolerance %.3g in iteration %d, and it should stop there",
             run.tolerance, kMeets)};
  if (!trial.error.empty() && run.ranks > 1) {
    return {
        "diagnosis: as long as no tolerance is asked for, all is right: the ranks do not agree on "
        "where to stop, and those that go on wait for the others",
        "look at: whether every rank gets the residual of all ranks: each decides by itself "
        "whether to go on",
        trial.error};
  }
  if (!trial.error.empty() && made == 0) {
    lines[0] += trial.child.exit_code <= lab::kExitNotConverged ? "; it performs no sweep at all"
                                                                : "; " + trial.error;
    lines.push_back("  Look at what the residual is before the loop: larger than any tolerance?");
    return lines;
  }
  if (!trial.error.empty()) return {trial.error};
  if (made == run.iterations) {
    lines[0] += format("; it goes on to --max-iterations %d", made);
    lines.push_back(
        "  Look at the loop's condition: it ends when residual > options.tolerance does not hold.");
    return lines;
  }
  // A step that computes few residuals stops at one of the next checks.
  if (made < kMeets || (!sparse && made > kMeets)) {
    lines[0] += format("; it stops after %d", made);
    lines.push_back(made < kMeets
                        ? "  Look at the loop's condition, and what the residual is before it."
                        : "  Look at the loop's condition: is it this sweep's residual?");
    return lines;
  }
  if (compare_residuals(expected, trial.record.residuals, run.n).kind ==
      ResidualComparison::kWrong) {
    return {"its residuals are not those of the same run without --tolerance"};
  }
  return {};
}

}  // namespace validate
