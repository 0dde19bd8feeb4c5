#pragma once

// Why a program is wrong that solves by cycles over several grids (step 16). Its fields are no
// Jacobi sweeps', so they are compared with the exact solution of the discrete equations.

#include <string>
#include <vector>

#include "explain/diagnosis.h"

namespace validate {

constexpr int kLeastN = 3;  ///< a single interior point

/// How the error, the distance of the field from the exact solution, changes from the field after
/// one cycle to that after two, for the problem `probe`.
struct CycleLook {
  int n = 0;
  /// What a cycle leaves of the smoothest errors, with its sign: 0 is best. The coarser levels
  /// correct these; if a correction counts s times, 1 - s is left.
  double of_smooth = 0;
  /// What a cycle leaves of errors that no coarser level can show, of those that the next one just
  /// shows, and of all others: ratios of root mean squares.
  double of_rough = 0, of_middle = 0, of_other = 0;
  /// The cycle is sweeps on the finest level: it multiplies each wave by 1 + of_lambda * lambda +
  /// of_square * lambda^2, and no coarser level reaches the field.
  bool only_sweeps = false;
  double of_lambda = 0, of_square = 0;
  double last_error = 0;          ///< after many cycles, relative to the largest value
  bool boundary_changed = false;  ///< a boundary point (boundary_i, boundary_j) changed its value
  int boundary_i = 0, boundary_j = 0;
  bool field_stays = false;                  ///< the second cycle changes nothing
  std::vector<int> rows_kept, columns_kept;  ///< of the interior: it changes no point of them
  /// Residuals of the field that the first cycle begins with, of the one that it leaves, and of the
  /// one that the second begins with.
  double before_first = 0, after_first = 0, before_second = 0;
};

/// Looks at the fields after one cycle and after two. All have n x n values, row j outer.
CycleLook look_at_cycles(int n, const std::vector<double>& exact, const std::vector<float>& one,
                         const std::vector<float>& two);

/// The slip with which a cycle, built as the guide of step 16 does it, gives both these fields; not
/// known if there is none. The first cycle begins with `start` if `from_start`, else with what the
/// coarser levels find.
Answer slip_of_cycles(int n, const std::vector<float>& start, const std::vector<float>& one,
                      const std::vector<float>& two, bool from_start, const std::string& source);

/// Names the cause of a wrong field, if one is known.
Diagnosis diagnose_cycles(const CycleLook& look, const Patient& patient);

/// The same of a loop that ends before the cycles that were asked for are made.
Diagnosis diagnose_cycles_made(const Case& run, int made, double residual, const Patient& patient);

/// The same of a right field's wrong residual, `found`. Right is that of the field with which the
/// last cycle begins, `of_before`.
Diagnosis diagnose_cycle_sum(const Case& run, double found, double of_before,
                             const Patient& patient);

}  // namespace validate
