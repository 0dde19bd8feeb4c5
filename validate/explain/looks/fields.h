#pragma once

#include <cmath>
#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include <lab/problem.h>

#include "explain/looks/cells.h"
#include "judge/compare.h"
#include "reference/reference.h"
#include "run/text.h"

namespace validate {

/// A field as the reference and the programs hand it over: n x n, row j outer.
using Field = std::vector<float>;

Field field_of(const Reference& reference);
Field field_of(const lab::StartingField& start, int n);

/// The fields of the right sweeps from a starting field.
class Sweeps {
 public:
  Sweeps(int n, const Field& start) : reference_(n, start) { fields_.push_back(start); }
  explicit Sweeps(const lab::Problem& problem)
      : Sweeps(problem.n(), field_of(problem.initial_old(), problem.n())) {}
  /// After k sweeps.
  const Field& after(int k);
  /// The residual of sweep k, from 1.
  double residual(int k);

 private:
  Reference reference_;
  std::deque<Field> fields_;  // a reference to one outlives the making of the next
  std::vector<double> residuals_;
};

double largest_of(const Field& field);

/// Whether a residual is the right one, as the validator sees it.
inline bool same_residual(double found, double right) {
  return std::fabs(found - right) <= 1e-6 * right;
}

/// The points at which a field is wrong (is_wrong).
Cells differing(const Field& expected, const Field& found, int n, int sweeps);

/// Whether there is none.
bool agree(const Field& a, const Field& b, int n, int sweeps);

}  // namespace validate
