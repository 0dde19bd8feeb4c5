#include "explain/looks/fields.h"

#include <algorithm>
#include <cstring>

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

Field transposed(const Field& field, int n) {
  Field result(field.size());
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      result[static_cast<std::size_t>(j) * n + i] = field[static_cast<std::size_t>(i) * n + j];
    }
  }
  return result;
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
  Cells cells(n);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      const std::size_t k = static_cast<std::size_t>(j) * n + i;
      const bool same = cells.is_boundary(i, j)
                            ? std::memcmp(&expected[k], &found[k], sizeof(float)) == 0
                            : near(expected[k], found[k]);
      if (!same) cells.add(i, j);
    }
  }
  return cells;
}

bool agree(const Field& a, const Field& b, int n, int sweeps) {
  return a.size() == b.size() && differing(a, b, n, sweeps).count() == 0;
}

}  // namespace validate
