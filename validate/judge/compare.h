#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "reference/reference.h"
#include "run/program_run.h"
#include "run/record.h"

namespace validate {

/// Equal but for rounding, in a field whose largest magnitude is `largest`, after k sweeps.
///
/// Another order of the four additions changes a value by at most 4.5 k 2^-24 max|f| after k sweeps
/// (each addition rounds by at most half a unit in the last place, and a sweep is an average, which
/// amplifies nothing).
struct Near {
  double bound;
  Near(double largest, int k) : bound(4.5 * k * std::ldexp(1.0, -24) * largest) {}
  bool operator()(double a, double b) const { return std::fabs(a - b) <= bound; }
};

/// Whether point (i, j) of a field of n x n points differs by more than rounding; on the boundary,
/// which no sweep touches, in any bit. Values below 1e-30 count as zero.
bool is_wrong(int i, int j, int n, float expected, float found, const Near& near);

struct Cell {
  int i, j;
  float expected, found;
};

/// A field held against the reference's.
struct FieldComparison {
  enum Kind {
    kIdentical,          ///< every bit (values below 1e-30 count as zero)
    kDifferentRounding,  ///< within what another order of the four additions can change
    kWrong,
  };
  Kind kind = kIdentical;
  std::size_t different = 0;  ///< points whose bits differ
  std::size_t wrong = 0;      ///< points that differ by more than rounding; NaN is always wrong
  std::size_t none = 0;       ///< of those, the points that are not a number
  double max_difference = 0;  ///< the largest |found - expected|; NaN aside
  int i_min = 0, i_max = -1, j_min = 0, j_max = -1;  ///< the box that holds all wrong points
  int first_row = 0, last_row = -1;                  ///< with a point whose bits differ
  std::vector<Cell> first;                           ///< the first few wrong points, row by row
};

/// Compares a field, row j outer, with the reference's current one. `iterations` sweeps have been
/// made: rounding may grow with them.
FieldComparison compare_field(const Reference& reference, int iterations,
                              const std::vector<float>& field);

/// A run's residuals held against the reference's.
struct ResidualComparison {
  enum Kind {
    kExact,            ///< within what the order of a sum in double can change
    kSinglePrecision,  ///< within 1e-6: a tree of float sums, or another rounding of the field
    kWrong,
  };
  Kind kind = kExact;
  int iteration = 0;  ///< the first wrong one
  double expected = 0, found = 0;
};

/// Compares residuals with the reference's: expected[k - 1] is that of iteration k, n points a
/// side.
///
/// n^2 squares summed in double, in any order, agree within n^2 2^-53 relative to their sum
/// (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2: each of two sums is that
/// close to the true one, and the root halves it).
ResidualComparison compare_residuals(const std::vector<double>& expected,
                                     const std::vector<Record::Residual>& found, int n);

void describe_residual(const ResidualComparison& residual, std::vector<std::string>* lines);

/// Says in *lines how a field is wrong after `first_iteration` of `run`'s (0: after the last).
void describe_field(const FieldComparison& field, const Case& run, int first_iteration,
                    std::vector<std::string>* lines);

}  // namespace validate
