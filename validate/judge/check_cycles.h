#pragma once

#include <string>

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

/// What one cycle leaves of the error, as a mean of four of them, for the problem `probe` on
/// n x n points, n <= kMaxExactN. Throws std::runtime_error if a run leaves no field.
double left_by_a_cycle(const std::string& program, int n, double time_limit);

}  // namespace validate
