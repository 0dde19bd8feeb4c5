#pragma once

// Why a program is wrong that solves by cycles over several grids (step 16). Its fields are no
// Jacobi sweeps', so they are compared with the exact solution of the discrete equations.

#include <vector>

#include "explain/diagnosis.h"

namespace validate {

/// How the error, the distance of the field from the exact solution, changes from the field after
/// one cycle to that after two, for the problem `probe`.
constexpr int kLeastN = 3;  ///< a single interior point

struct CycleLook {
  int n = 0;
  /// What a cycle leaves of the smoothest errors, with its sign: 0 is best. The coarser levels
  /// correct these; if a correction counts s times, 1 - s is left.
  double of_smooth = 0;
  /// What a cycle leaves of errors that no coarser level can show, of those that the next one just
  /// shows, and of all others: ratios of root mean squares.
  double of_rough = 0, of_middle = 0, of_other = 0;
  /// The same of errors smooth along both axes that are put at (q, p) in place of (p, q): -1 if a
  /// correction comes with its axes exchanged, and otherwise near 0.
  double of_exchanged = 0;
  /// The cycle is sweeps on the finest level: it multiplies each wave by 1 + of_lambda * lambda +
  /// of_square * lambda^2, and no coarser level reaches the field.
  bool only_sweeps = false;
  double of_lambda = 0, of_square = 0;
  double last_error = 0;          ///< after many cycles, relative to the largest value
  bool boundary_changed = false;  ///< a boundary point (boundary_i, boundary_j) changed its value
  int boundary_i = 0, boundary_j = 0;
  bool field_stays = false;       ///< the second cycle changes nothing
  bool powers_are_right = false;  ///< on a grid of 2^k + 1 points per side it is multigrid
};

/// Looks at the fields after one cycle and after two. All have n x n values, row j outer.
CycleLook look_at_cycles(int n, const std::vector<double>& exact, const std::vector<float>& one,
                         const std::vector<float>& two);

/// A loop that ends before the cycles that were asked for are made.
Diagnosis diagnose_cycles_made(int n, int asked, int made, double residual, const Patient& patient);

/// The first residual of a right field that is wrong, and what it is compared with.
struct CycleSum {
  int iteration = 0;
  double found = 0;
  double of_before = 0;  ///< of the field that the cycle begins with: right
  double of_after = 0;   ///< of the field that it leaves
  int n = 0;
};

/// Names the cause, if one is known.
Diagnosis diagnose_cycles(const CycleLook& look, const Patient& patient);
Diagnosis diagnose_cycle_sum(const CycleSum& sum, const Patient& patient);

}  // namespace validate
