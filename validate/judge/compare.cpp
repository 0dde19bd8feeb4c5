#include "judge/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "run/text.h"

namespace validate {
namespace {

constexpr std::size_t kCellsShown = 4;
constexpr float kNoise = 1e-30f;  // the underflow of a front that has not arrived yet
constexpr double kSinglePrecisionBound = 1e-6;

bool same(float a, float b) {
  return std::memcmp(&a, &b, sizeof a) == 0 || (std::fabs(a) < kNoise && std::fabs(b) < kNoise);
}

}  // namespace

bool is_wrong(int i, int j, int n, float expected, float found, const Near& near) {
  if (same(expected, found)) return false;
  const bool boundary = i == 0 || j == 0 || i == n - 1 || j == n - 1;
  return boundary || !near(expected, found);  // also what is no number
}

FieldComparison compare_field(const Reference& reference, int iterations,
                              const std::vector<float>& field) {
  const int n = reference.n();
  const Near near(reference.max_abs(), iterations);
  FieldComparison result;
  for (int j = 0; j < n; ++j) {
    const float* found = &field[static_cast<std::size_t>(j) * n];
    const float* expected = reference.row(j);
    for (int i = 0; i < n; ++i) {
      if (same(expected[i], found[i])) continue;
      if (result.different++ == 0) result.first_row = j;
      result.last_row = j;
      const double difference = std::fabs(static_cast<double>(found[i]) - expected[i]);
      if (difference > result.max_difference) result.max_difference = difference;
      if (!is_wrong(i, j, n, expected[i], found[i], near)) continue;
      result.none += std::isnan(found[i]);
      if (result.wrong++ == 0) result.i_min = i, result.j_min = j;
      result.i_min = std::min(result.i_min, i);
      result.i_max = std::max(result.i_max, i);
      result.j_max = j;
      if (result.first.size() < kCellsShown) {
        result.first.push_back({i, j, expected[i], found[i]});
      }
    }
  }
  result.kind = result.wrong > 0       ? FieldComparison::kWrong
                : result.different > 0 ? FieldComparison::kDifferentRounding
                                       : FieldComparison::kIdentical;
  return result;
}

ResidualComparison compare_residuals(const std::vector<double>& expected,
                                     const std::vector<Record::Residual>& found, int n) {
  const double points = static_cast<double>(n) * n;
  // A few units in the last place more, for the division and the root.
  const double exact_bound = (points + 4) * std::ldexp(1.0, -53);
  ResidualComparison result;
  for (const Record::Residual& residual : found) {
    const double truth = expected.at(residual.iteration - 1);
    // Where the right residual is zero no change is small.
    const double difference = std::fabs(residual.value - truth);
    const double relative = difference == 0 ? 0 : difference / truth;
    if (relative <= exact_bound) continue;
    if (relative <= kSinglePrecisionBound) {
      result.kind = ResidualComparison::kSinglePrecision;
      continue;
    }
    // Also where the residual is not a number.
    result.kind = ResidualComparison::kWrong;
    result.iteration = residual.iteration;
    result.expected = truth;
    result.found = residual.value;
    break;
  }
  return result;
}

void describe_residual(const ResidualComparison& residual, std::vector<std::string>* lines) {
  if (std::isnan(residual.found)) {
    lines->push_back(format("the residual is wrong from iteration %d on: it is not a number",
                            residual.iteration));
    return;
  }
  lines->push_back(format("the residual is wrong from iteration %d on: expected %.9g, found %.9g",
                          residual.iteration, residual.expected, residual.found));
  if (residual.expected > 0 && std::isfinite(residual.found)) {
    const double times = residual.found / residual.expected;
    if (times < 1e-3 || times > 1e6) return;  // says no more
    lines->push_back(std::fabs(times - 1) < 1e-4
                         ? format("  that is off by %.2g of the correct one", std::fabs(times - 1))
                         : format("  that is %.6g times the correct one", times));
  }
}

void describe_field(const FieldComparison& field, const Case& run, int first_iteration,
                    std::vector<std::string>* lines) {
  const std::size_t points = static_cast<std::size_t>(run.n) * run.n;
  lines->push_back(
      first_iteration > 0
          ? format("the field is wrong from iteration %d on; after that one", first_iteration)
          : format("the field is wrong; after iteration %d", run.iterations));
  std::string how =
      format("  %zu of %zu points %s wrong", field.wrong, points, field.wrong == 1 ? "is" : "are");
  if (field.none > 0) {
    how += field.none == field.wrong ? ": they are not numbers"
                                     : format(", %zu of them not numbers", field.none);
  }
  if (field.none < field.wrong) how += format(", by up to %.3g", field.max_difference);
  lines->push_back(how);
  lines->push_back(format("  they lie in i = %d..%d, j = %d..%d (the interior is 1..%d)",
                          field.i_min, field.i_max, field.j_min, field.j_max, run.n - 2));
  lines->push_back("       i      j      expected         found");
  for (const Cell& cell : field.first) {
    lines->push_back(format("  %6d %6d %13.6g %13.6g", cell.i, cell.j, cell.expected,
                            std::isnan(cell.found) ? NAN : cell.found));
  }
}

}  // namespace validate
