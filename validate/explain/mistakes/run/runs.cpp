// Loops that end early, and what only several runs tell.

#include <algorithm>
#include <cmath>
#include <string>

#include "explain/looks/field_look.h"
#include "explain/mistakes/families.h"
#include "run/text.h"

namespace validate {
namespace {

/// A loop that stops by itself, before the iterations that were asked for are made.
Answer early_stop(const Evidence& evidence) {
  if (!evidence.stopped_early) return {};
  const Wrong& wrong = evidence.wrong;
  const Observation* seen = evidence.interview.after(wrong.run.iterations);
  return Answer("loop_ends_early")
      .with("asked", wrong.run.iterations)
      .with("made", wrong.made)
      .with("residual",
            format("%.3g", seen && !seen->residuals.empty() ? seen->residuals.back().value : NAN));
}

/// What is told of several runs, and of no evidence in one: explain_case.cpp.
Answer of_several_runs(const Evidence&) { return {}; }

}  // namespace

// clang-format off
const Family kRunMistakes = {
    {"wrong_only_at_a_large_n", Strength::kShape, kAnyProgram, of_several_runs,
     "up to n = {right} it is right, but at n = {n} it {?hangs|does not end|is wrong}",
     {"{?hangs|each loop that may not end there: its condition, and what changes in each turn}",
      "what has a fixed size, or one that does not grow with n as it should: a buffer of partial sums, the number of "
      "blocks, a number of points kept in an int"}},
    {"ranks_hand_over_other_rows", Strength::kShape, kAnyProgram, of_several_runs,
     "with one rank it is right; with more the residual is also right. So each rank sweeps its rows as it should, but "
     "hands over other rows as the result",
     {"what ranks.finish is given in main: row j of the field is row j - slab.held_begin of what the rank holds, "
      "which begins with the halo; and whether its rows are those that it computes, slab.begin to slab.end, without "
      "the halo"}},
    {"loop_ends_early", Strength::kModel, kAnyProgram, early_stop,
     "the loop ends after {made} of {asked} iterations, with the residual {residual}",
     {"{own_condition}", "iteration, which begins at 0 and goes up by 1 for each sweep"}},
};
// clang-format on

}  // namespace validate
