#include "explain/looks/sum_look.h"

namespace validate {
namespace {

constexpr int kIterationsLookedAt = 10;

/// The squares of the groups' sums of changes, added up.
double squares_of_groups(const Field& before, const Field& after, int n, int width, int height) {
  double squares = 0;
  for (int j0 = 0; j0 < n; j0 += height) {
    std::vector<double> sums((n + width - 1) / width, 0.0);
    for (int j = std::max(j0, 1); j < std::min(j0 + height, n - 1); ++j) {
      for (int i = 1; i < n - 1; ++i) {
        const std::size_t k = static_cast<std::size_t>(j) * n + i;
        sums[i / width] += after[k] - before[k];
      }
    }
    for (const double sum : sums) squares += sum * sum;
  }
  return squares;
}

Sweep make_sweep(const Field& before, const Field& after, const Field& hidden, int n, double found,
                 double right) {
  Sweep sweep;
  sweep.found = found;
  sweep.right = right;
  sweep.columns.assign(n, 0.0);
  sweep.rows.assign(n, 0.0);
  for (int j = 1; j < n - 1; ++j) {
    for (int i = 1; i < n - 1; ++i) {
      const std::size_t k = static_cast<std::size_t>(j) * n + i;
      const float change = after[k] - before[k];
      const double square = static_cast<double>(change) * change;
      sweep.columns[i] += square;
      sweep.rows[j] += square;
      sweep.total += square;
      sweep.plain += change;
      sweep.absolute += std::fabs(change);
      const double from_hidden = after[k] - hidden[k];
      sweep.against_hidden += from_hidden * from_hidden;
      for (int p = 0; p < 9; ++p) {
        const std::size_t at = static_cast<std::size_t>(j + p / 3 - 1) * n + i + p % 3 - 1;
        const float other = after[k] - before[at];
        sweep.against[p] += static_cast<double>(other) * other;
      }
    }
  }
  for (const auto& [width, height] : kGroups) {
    sweep.of_groups.push_back(squares_of_groups(before, after, n, width, height));
  }
  for (int j = 1; j < n - 1; ++j) {
    for (const int i : {0, n - 1}) {
      const std::size_t k = static_cast<std::size_t>(j) * n + i;
      const double south = after[k] - before[k - n], north = after[k] - before[k + n];
      sweep.kept_against_south += south * south;
      sweep.kept_against_north += north * north;
    }
  }
  return sweep;
}

/// Whether a number is a float, or was computed from a sum that is one.
bool looks_like_float(const Sweep& sweep, int n) {
  const double sum = sweep.found_sum(n);
  const double rounded = static_cast<float>(sum);
  return static_cast<double>(static_cast<float>(sweep.found)) == sweep.found ||
         std::fabs(sum - rounded) <= 4e-15 * sum;
}

}  // namespace

SumLook::SumLook(const Evidence& all) : evidence(all) {
  const auto seen = all.after(all.wrong.run.iterations);
  if (!seen) return;
  const lab::Problem problem(all.wrong.run.problem, n);
  Sweeps right(problem);
  // What the new field holds before sweep k: a copy makes both fields the same, a swap does not.
  const Field start_new = field_of(problem.initial_new(), n);
  for (const Record::Residual& residual : seen->residuals) {
    const int k = residual.iteration;
    // Iteration after iteration, as every step says them that has no --check-every.
    if (k != static_cast<int>(sweeps.size()) + 1 || k > kIterationsLookedAt) break;
    const Field& hidden = k == 1 ? start_new : right.after(has(kSwaps) ? k - 2 : k - 1);
    sweeps.push_back(make_sweep(right.after(k - 1), right.after(k), hidden, n, residual.value,
                                right.residual(k)));
    is_float &= looks_like_float(sweeps.back(), n);
  }
  const auto is_right = [&](const Sweep& s) { return equal(s.found, s.right); };
  last_is_right =
      sweeps.size() > 2 && std::find_if(sweeps.begin(), sweeps.end(), is_right) == sweeps.end() - 1;
  if (last_is_right) sweeps.pop_back();
}

bool SumLook::another_run_differs() const {
  const auto other = evidence.patient.ask(evidence.wrong.run, true);
  if (!other) return false;
  for (std::size_t k = 0; k < sweeps.size() && k < other->residuals.size(); ++k) {
    const double one = sweeps[k].found, bound = (is_float ? 1e-4 : 1e-9) * std::fabs(one);
    if (std::fabs(other->residuals[k].value - one) > bound) return true;
  }
  return false;
}

}  // namespace validate
