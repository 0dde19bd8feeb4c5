#pragma once

#include <string>
#include <vector>

#include "explain/looks/cells.h"

namespace validate {

/// Where a value comes from: the field that the sweep reads, or the one that it writes, which holds
/// what this sweep has stored, or else what stood there before.
enum class From { kOld, kNew, kOverwritten };

/// A point near the one that is computed, and what it is multiplied by.
struct Term {
  int di, dj;     ///< its distance
  double factor;  ///< rounded to a simple number where it is one but for rounding
  From from;
  std::string words() const;  ///< "north"
};

/// A sum of terms that gives every one of some points.
struct StencilFit {
  bool found = false;
  std::vector<Term> terms;
  /// "0.5 west + 0.25 (north + south)".
  std::string words() const;
  /// Of the neighbours north and south, only one has its 0.25. -1: south is missing, 1: north, 0:
  /// neither, or both. And of west and east.
  int lacks_row() const { return lacks(0, 1); }
  int lacks_column() const { return lacks(1, 0); }

 private:
  int lacks(int di, int dj) const;
};

/// Fits, by least squares, the 25 points around each point of `cells` in the field `before` to its
/// value in `after`; or else the five nearest ones there, four in `after`, and then five in
/// `overwritten` as well. All fields are n x n, row j outer. Only a fit that gives every point
/// (those aside whose terms lie outside of the field) but for rounding counts.
StencilFit fit_stencil(const std::vector<float>& before, const std::vector<float>& after,
                       const Cells& cells, const std::vector<float>& overwritten);

}  // namespace validate
