// Loops that end early, skip numbers, or do not look at --n.

#include <algorithm>
#include <cmath>
#include <string>

#include "explain/looks/field_look.h"
#include "explain/mistakes/families.h"
#include "run/text.h"

namespace validate {
namespace {

/// Whether residuals of several iterations are missing, though each sweep's is asked for.
Answer numbers(const Evidence& evidence) {
  if (evidence.subject != Evidence::kRun) return {};
  const int asked = evidence.interview.run().iterations;
  const Observation* seen = evidence.interview.after(asked);
  if (!seen || seen->residuals.size() < 2) return {};
  const int step = seen->residuals[0].iteration;
  if (step == 1 && evidence.wrong.made < asked) {
    for (std::size_t k = 1; k < seen->residuals.size(); ++k) {
      const int before = seen->residuals[k - 1].iteration, now = seen->residuals[k].iteration;
      if (now != before + 1) {
        return Answer("residuals_are_not_recorded").with("before", before).with("now", now);
      }
    }
  }
  for (std::size_t k = 0; k < seen->residuals.size(); ++k) {
    if (seen->residuals[k].iteration != step * static_cast<int>(k + 1)) return {};
  }
  if (step < 2) return {};
  return Answer("iterations_are_counted_twice").with("step", step).with("twice", 2 * step);
}

/// A loop that stops by itself, before the iterations that were asked for are made.
Answer early_stop(const Evidence& evidence) {
  if (!evidence.stopped_early) return {};
  const Wrong& wrong = evidence.wrong;
  const int asked = wrong.run.iterations, more = asked + 3;
  const Observation* longer = evidence.interview.after(more);
  if (!longer) return {};
  if (wrong.made == asked - 1 && longer->iterations == more - 1) {
    return Answer("one_iteration_too_few");
  }
  if (longer->iterations != wrong.made) return {};
  const double last = longer->residuals.empty() ? NAN : longer->residuals.back().value;
  return Answer("stops_by_itself")
      .with("residual", format("%.3g", last))
      .with("made", format("%d iteration%s", wrong.made, wrong.made == 1 ? "" : "s"));
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
    {"residuals_are_not_recorded", Strength::kForbidden, without(kChecks), numbers,
     "the residual of iteration {before} is recorded, and the next one is that of iteration {now}: run.record is not "
     "called in each iteration",
     {"run.record(++iteration, residual) in the loop of main: in every turn, whatever the iteration's number"}},
    {"iterations_are_counted_twice", Strength::kForbidden, without(kChecks), numbers,
     "the iterations are numbered {step}, {twice} and so on: one sweep is performed for every {step} numbers",
     {"where iteration goes up in the loop of main: by 1 for each sweep"}},
    {"one_iteration_too_few", Strength::kModel, kAnyProgram, early_stop,
     "each run performs one iteration too few",
     {"the condition of the loop in main: it goes on while iteration < options.max_iterations, and iteration begins "
      "at 0"}},
    {"stops_by_itself", Strength::kModel, kAnyProgram, early_stop,
     "it stops after {made}, however many --iterations asks for: either at a tolerance of its own (the residual is "
     "{residual} then), or at a count of its own",
     {"{own_condition}"}},
};
// clang-format on

}  // namespace validate
