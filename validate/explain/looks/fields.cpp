#include "explain/looks/fields.h"

#include <algorithm>

namespace validate {

Field field_of(const Reference& reference) {
  Field field;
  for (int j = 0; j < reference.n(); ++j) {
    field.insert(field.end(), reference.row(j), reference.row(j) + reference.n());
  }
  return field;
}

Field field_of(const lab::StartingField& start, int n) {
  Field field;
  field.reserve(static_cast<std::size_t>(n) * n);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) field.push_back(start(i, j));
  }
  return field;
}

const Field& Sweeps::after(int k) {
  while (static_cast<int>(fields_.size()) <= k) {
    residuals_.push_back(reference_.sweep());
    fields_.push_back(field_of(reference_));
  }
  return fields_[k];
}

double Sweeps::residual(int k) {
  after(k);
  return residuals_[k - 1];
}

double largest_of(const Field& field) {
  double largest = 0;
  for (float value : field) largest = std::max(largest, std::fabs(static_cast<double>(value)));
  return largest;
}

Cells differing(const Field& expected, const Field& found, int n, int sweeps) {
  const Near near(largest_of(expected), sweeps);
  return Cells::where(n, [&](int i, int j) {
    const std::size_t k = static_cast<std::size_t>(j) * n + i;
    return is_wrong(i, j, n, expected[k], found[k], near);
  });
}

bool agree(const Field& a, const Field& b, int n, int sweeps) {
  return a.size() == b.size() && differing(a, b, n, sweeps).count() == 0;
}

}  // namespace validate
