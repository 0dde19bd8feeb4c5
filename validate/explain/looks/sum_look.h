#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "explain/evidence.h"

namespace validate {

/// Blocks of points, width and height, that may be added up together.
constexpr std::array<std::array<int, 2>, 10> kGroups = {{{32, 1},
                                                         {128, 1},
                                                         {256, 1},
                                                         {16, 16},
                                                         {32, 4},
                                                         {32, 8},
                                                         {32, 16},
                                                         {32, 32},
                                                         {64, 4},
                                                         {128, 2}}};

/// The squared changes of one right sweep, and what the program said of it.
struct Sweep {
  double found;                 ///< the program's residual
  double right;                 ///< the residual
  std::vector<double> columns;  ///< squared changes, summed along each column
  std::vector<double> rows;
  double total = 0, plain = 0, absolute = 0;
  double against_hidden = 0;           ///< squared changes against what the new field held before
  std::array<double, 9> against = {};  ///< changes against each point from (i-1, j-1) to (i+1, j+1)
  /// Changes added up over groups of points, one group of kGroups after the other, and the sum of
  /// each group squared.
  std::vector<double> of_groups;
  /// The same of the boundary's columns, which keep their values, against (i, j-1) and (i, j+1).
  double kept_against_south = 0, kept_against_north = 0;

  double found_sum(int n) const { return found * found * n * n; }
};

/// What every hypothesis on wrong residuals is held against.
struct SumLook {
  explicit SumLook(const Evidence& all);

  const Evidence& evidence;
  const Words& words = evidence.words;
  const int n = evidence.wrong.run.n, ranks = evidence.wrong.run.ranks;
  std::vector<Sweep> sweeps;  ///< the first few
  /// All are wrong but the last one, which is not in `sweeps`: it is said after the loop, say.
  bool last_is_right = false;
  bool is_float = true;  ///< the residual or the sum is a float: fewer digits to agree in

  bool has(unsigned traits) const { return words.has(traits); }
  double tolerance() const { return is_float ? 4e-7 : 1e-9; }
  bool equal(double a, double b) const { return std::fabs(a - b) <= tolerance() * std::fabs(b); }

  /// Whether `predict` gives the residual of every sweep.
  template <typename Predict>
  bool explained(Predict predict) const {
    return std::all_of(sweeps.begin(), sweeps.end(),
                       [&](const Sweep& s) { return equal(s.found, predict(s)); });
  }
  /// Whether the sum of one sweep is the predicted one.
  bool is_sum(const Sweep& sweep, double predicted) const {
    const double bound = 2 * tolerance() * predicted + 1e-13 * sweep.total;
    return predicted > 0 && std::fabs(sweep.found_sum(n) - predicted) <= bound;
  }
  /// Whether `predict` gives the sum of the squares of every sweep, from which its residual comes.
  template <typename Predict>
  bool sum_explained(Predict predict) const {
    return std::all_of(sweeps.begin(), sweeps.end(),
                       [&](const Sweep& s) { return is_sum(s, predict(s)); });
  }
  /// Whether another run, its threads in another order, says other residuals: by more than the
  /// order of a sum in double changes.
  bool another_run_differs() const;
};

}  // namespace validate
