#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace lab {

/// The q-quantile of sorted values, of which there is one at least, interpolated: 0.5 is the
/// median, 0.25 and 0.75 are the quartiles.
inline double quantile(const std::vector<double>& sorted, double q) {
  const double position = q * (sorted.size() - 1);
  const std::size_t below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - below) * (sorted[above] - sorted[below]);
}

}  // namespace lab
