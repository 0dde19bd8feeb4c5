#pragma once

#include <cmath>
#include <vector>

#include "judge/check_step.h"

namespace validate {

/// What a cycle of multigrid may leave of the error, whatever n: with two or three sweeps per level
/// published cycles leave 0.1 to 0.25 (Trottenberg, Oosterlee, Schueller, Multigrid, section 2.3).
inline constexpr double kMostLeft = 0.3;

/// Checks a program whose iterations are cycles over several grids. Its fields are compared with
/// the exact solution of the discrete equations (exact_solution.h): after 14 cycles, or else 20,
/// each value has to be that solution's, rounded to a float; on the two largest grids a few cycles
/// have to come about as near as on a smaller one. A program that comes nearer with each cycle, and
/// slowly, is right, too; the verdict says how slow.
Verdict check_cycles(const StepCheck& asked, const Progress& progress);

/// Between these a cycle's factor is measured: the first ones still see the start.
inline constexpr int kFrom = 2, kTo = 6;

/// What one cycle leaves of the error, of which that much is left after kFrom and kTo of them.
inline double left_by_a_cycle(double before, double after) {
  return std::pow(after / before, 1.0 / (kTo - kFrom));
}

/// The largest distance from the exact solution, relative to its largest value. Infinite if a value
/// is not a number.
double error_of(const std::vector<float>& field, const std::vector<double>& exact);

}  // namespace validate
