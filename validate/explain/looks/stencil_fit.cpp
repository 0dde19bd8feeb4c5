#include "explain/looks/stencil_fit.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "explain/looks/fields.h"
#include "run/text.h"

namespace validate {
namespace {

constexpr std::size_t kMaxEquations = 3000;
constexpr double kZero = 1e-5;  // a factor below it is noise

const char* name_of(int di, int dj) {
  static constexpr const char* kNames[3][3] = {{"south-west", "south", "south-east"},
                                               {"west", "the point itself", "east"},
                                               {"north-west", "north", "north-east"}};
  return std::abs(di) <= 1 && std::abs(dj) <= 1 ? kNames[dj + 1][di + 1] : nullptr;
}

/// A simple number that is `value` but for rounding; `value` where there is none.
double simple(double value) {
  for (int denominator : {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 100}) {
    const double rounded = std::round(value * denominator) / denominator;
    if (std::fabs(value - rounded) < 2e-6) return rounded;
  }
  return value;
}

/// Solves a x = b, a symmetric with `size` columns and no negative eigenvalue: that needs no other
/// pivots than its diagonal. Returns false where it has no clear solution.
bool solve(std::vector<double> a, std::vector<double> b, int size, std::vector<double>* x) {
  double largest = 0;
  for (int k = 0; k < size; ++k) largest = std::max(largest, a[k * size + k]);
  for (int k = 0; k < size; ++k) {
    if (!(a[k * size + k] > 1e-6 * largest)) return false;
    for (int row = k + 1; row < size; ++row) {
      const double factor = a[row * size + k] / a[k * size + k];
      for (int column = k; column < size; ++column) {
        a[row * size + column] -= factor * a[k * size + column];
      }
      b[row] -= factor * b[k];
    }
  }
  x->assign(size, 0.0);
  for (int k = size - 1; k >= 0; --k) {
    double sum = b[k];
    for (int column = k + 1; column < size; ++column) sum -= a[k * size + column] * (*x)[column];
    (*x)[k] = sum / a[k * size + k];
  }
  return true;
}

/// The terms that give the points of `cells` in `after`, each with its factor.
StencilFit fit(const Field& before, const Field& after, const Field& overwritten,
               const Cells& cells, std::vector<Term> terms) {
  const int n = cells.n(), size = static_cast<int>(terms.size());
  const auto at = [n](const Field& field, int i, int j) -> double {
    return field[static_cast<std::size_t>(j) * n + i];
  };
  const auto value = [&](const Term& term, int i, int j) {
    const Field& field = term.from == From::kOld   ? before
                         : term.from == From::kNew ? after
                                                   : overwritten;
    return at(field, i + term.di, j + term.dj);
  };
  /// Those whose terms lie inside of the field.
  const auto points_for = [&](const std::vector<Term>& some) {
    std::vector<std::pair<int, int>> points;
    for (int j = 1; j < n - 1; ++j) {
      for (int i = 1; i < n - 1; ++i) {
        const bool in_reach = std::all_of(some.begin(), some.end(), [&](const Term& term) {
          const int a = i + term.di, b = j + term.dj;
          return a >= 0 && b >= 0 && a < n && b < n;
        });
        if (!cells.has(i, j) || !in_reach) continue;
        // Values that are none would spoil all sums.
        if (!std::isfinite(at(after, i, j))) return std::vector<std::pair<int, int>>();
        points.push_back({i, j});
      }
    }
    return points;
  };

  StencilFit result;
  std::vector<std::pair<int, int>> points = points_for(terms);
  const std::size_t at_least = points.size();
  if (at_least < 2 * terms.size()) return result;
  std::vector<double> a(size * size, 0.0), b(size, 0.0), values(size), x;
  for (std::size_t p = 0; p < at_least; p += at_least / kMaxEquations + 1) {
    const auto [i, j] = points[p];
    for (int k = 0; k < size; ++k) values[k] = value(terms[k], i, j);
    for (int k = 0; k < size; ++k) {
      b[k] += values[k] * at(after, i, j);
      for (int m = 0; m < size; ++m) a[k * size + m] += values[k] * values[m];
    }
  }
  if (!solve(a, b, size, &x)) return result;
  for (int k = 0; k < size; ++k) {
    terms[k].factor = simple(x[k]);
    if (std::fabs(x[k]) > kZero) result.terms.push_back(terms[k]);
  }
  // The fewer terms are, the more points have all of them inside of the field.
  points = points_for(result.terms);
  const double largest = largest_of(before);
  result.found = points.size() >= at_least;
  for (const auto& [i, j] : points) {
    if (!result.found) break;
    double sum = 0, weight = 0;
    for (const Term& term : result.terms) {
      sum += term.factor * value(term, i, j);
      weight += std::fabs(term.factor);
    }
    // Four roundings or so; and false for NaN.
    result.found &= std::fabs(sum - at(after, i, j)) <= 1e-6 * largest * std::max(1.0, weight);
  }
  return result;
}

}  // namespace

std::string Term::words() const {
  const char* name = name_of(di, dj);
  return (name ? name : "point " + point_from_here(di, dj)) + (from == From::kOld ? ""
                                                               : from == From::kNew
                                                                   ? " (new)"
                                                                   : " (overwritten)");
}

std::string StencilFit::words() const {
  if (terms.empty()) return "0";
  std::string text;
  std::vector<char> said(terms.size(), 0);
  for (std::size_t k = 0; k < terms.size(); ++k) {
    if (said[k]) continue;
    // All with the same factor together.
    std::string names;
    int count = 0;
    for (std::size_t m = k; m < terms.size(); ++m) {
      if (said[m] || std::fabs(terms[m].factor - terms[k].factor) > kZero) continue;
      said[m] = 1;
      names += (count++ ? " + " : "") + terms[m].words();
    }
    if (count > 1) names = "(" + names + ")";
    const double factor = terms[k].factor;
    text += text.empty() ? (factor < 0 ? "-" : "") : (factor < 0 ? " - " : " + ");
    text += format("%.4g ", std::fabs(factor)) + names;
  }
  return text;
}

int StencilFit::lacks(int di, int dj) const {
  bool low = false, high = false;
  for (const Term& term : terms) {
    if (std::fabs(term.factor - 0.25) > kZero || term.from != From::kOld) continue;
    low |= term.di == -di && term.dj == -dj;
    high |= term.di == di && term.dj == dj;
  }
  return static_cast<int>(low) - static_cast<int>(high);
}

StencilFit fit_stencil(const std::vector<float>& before, const std::vector<float>& after,
                       const Cells& cells, const std::vector<float>& overwritten) {
  // In the order in which the steps have them: east, north, west, south.
  constexpr From kOld = From::kOld;
  const std::vector<Term> nearest = {
      {1, 0, 0, kOld}, {0, 1, 0, kOld}, {-1, 0, 0, kOld}, {0, -1, 0, kOld}, {0, 0, 0, kOld}};
  std::vector<Term> wide = nearest, both = nearest;
  for (int dj = -2; dj <= 2; ++dj) {
    for (int di = -2; di <= 2; ++di) {
      if (std::abs(di) + std::abs(dj) > 1) wide.push_back({di, dj, 0, kOld});
    }
  }
  for (int k = 0; k < 4; ++k) both.push_back({nearest[k].di, nearest[k].dj, 0, From::kNew});
  std::vector<Term> all = both;
  for (const Term& term : nearest) all.push_back({term.di, term.dj, 0, From::kOverwritten});
  // Where the wrong points are all beside the field's edge, the wide neighbourhood is not there.
  for (const std::vector<Term>& terms : {wide, nearest, both, all}) {
    const StencilFit found = fit(before, after, overwritten, cells, terms);
    if (found.found) return found;
  }
  return {};
}

}  // namespace validate
