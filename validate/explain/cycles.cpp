#include "explain/cycles.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "explain/evidence.h"
#include "explain/mistakes/families.h"
#include "reference/exact_solution.h"
#include "run/text.h"

namespace validate {
namespace {

/// A cycle that leaves more than this of some errors is none of multigrid. Of smooth errors a
/// correction that is exact leaves next to nothing; weak sweeps on coarser levels leave a third.
constexpr double kTooMuch = 0.3, kSmoothTooMuch = 0.45;
/// Up to this mode along each axis an error is smooth, on all grids that are looked at.
constexpr int kSmoothModes = 4;

std::vector<double> error_of(int n, const std::vector<double>& exact,
                             const std::vector<float>& field) {
  std::vector<double> error;
  for (int j = 1; j < n - 1; ++j) {
    for (int i = 1; i < n - 1; ++i) {
      const std::size_t at = static_cast<std::size_t>(j) * n + i;
      error.push_back(field[at] - exact[at]);
    }
  }
  return error;
}

/// Sums over modes of one kind: of before * after, before^2 and after^2.
struct Band {
  double product = 0, before = 0, after = 0;
  void add(double a, double b) {
    product += a * b;
    before += a * a;
    after += b * b;
  }
  double ratio() const { return before > 0 ? std::sqrt(after / before) : 0; }
  double multiple() const { return before > 0 ? product / before : 0; }
};

/// Fits change = a * lambda * before + b * lambda^2 * before, in the sense of least squares.
class SweepFit {
 public:
  void add(double lambda, double before, double change) {
    const double x = lambda * before, y = lambda * x;
    xx_ += x * x, xy_ += x * y, yy_ += y * y;
    xc_ += x * change, yc_ += y * change, cc_ += change * change;
  }
  /// Says whether nothing but rounding is left.
  bool solve(double* a, double* b) const {
    const double determinant = xx_ * yy_ - xy_ * xy_;
    *a = (xc_ * yy_ - yc_ * xy_) / determinant;
    *b = (yc_ * xx_ - xc_ * xy_) / determinant;
    return cc_ - *a * xc_ - *b * yc_ < 1e-6 * cc_;
  }

 private:
  double xx_ = 0, xy_ = 0, yy_ = 0, xc_ = 0, yc_ = 0, cc_ = 0;
};

/// "1 - 1.95 lambda + 0.78 lambda^2"
std::string factor_of_a_wave(double of_lambda, double of_square) {
  const auto term = [](double factor, const char* of) {
    return format(factor < 0 ? " - %.2f %s" : " + %.2f %s", std::fabs(factor), of);
  };
  return "1" + term(of_lambda, "lambda") +
         (std::fabs(of_square) < 0.005 ? "" : term(of_square, "lambda^2"));
}

/// What stage 2 or stage 3 of step 16 should do: 1 - lambda, or (1 - 1.39 lambda)(1 - 0.56 lambda).
bool sweeps_as_meant(const CycleLook& look) {
  const auto are = [&](double of_lambda, double of_square) {
    return std::fabs(look.of_lambda - of_lambda) < 0.01 &&
           std::fabs(look.of_square - of_square) < 0.01;
  };
  return are(-1, 0) || are(-1.39 - 0.56, 1.39 * 0.56);
}

}  // namespace

CycleLook look_at_cycles(int n, const std::vector<double>& exact, const std::vector<float>& one,
                         const std::vector<float>& two) {
  CycleLook look;
  look.n = n;
  const SineModes modes(n);
  const std::vector<double> before = modes.amplitudes(error_of(n, exact, one));
  const std::vector<double> after = modes.amplitudes(error_of(n, exact, two));
  const int m = modes.per_side();
  Band smooth, rough, middle, other;
  SweepFit sweeps;
  const auto half_wave = [n](int p) { return std::cos(std::acos(-1.0) * p / (n - 1)) / 2; };
  for (int q = 1; q <= m; ++q) {
    for (int p = 1; p <= m; ++p) {
      const std::size_t at = static_cast<std::size_t>(q - 1) * m + p - 1;
      const int most = std::max(p, q);
      Band& band = most <= kSmoothModes ? smooth
                   : 2 * most > n       ? rough
                   : 4 * most > n       ? middle
                                        : other;
      band.add(before[at], after[at]);
      const double lambda = 1 - half_wave(p) - half_wave(q), change = after[at] - before[at];
      sweeps.add(lambda, before[at], change);
    }
  }
  look.of_smooth = smooth.multiple();
  look.of_rough = rough.ratio();
  look.of_middle = middle.ratio();
  look.of_other = other.ratio();
  look.only_sweeps = sweeps.solve(&look.of_lambda, &look.of_square);
  look.field_stays = one == two;
  for (int line = 1; line < n - 1; ++line) {
    bool row = true, column = true;
    for (int k = 1; k < n - 1; ++k) {
      const std::size_t in_row = static_cast<std::size_t>(line) * n + k;
      const std::size_t in_column = static_cast<std::size_t>(k) * n + line;
      row &= one[in_row] == two[in_row];
      column &= one[in_column] == two[in_column];
    }
    if (row) look.rows_kept.push_back(line);
    if (column) look.columns_kept.push_back(line);
  }
  for (int k = 0; k < 4 * n && !look.boundary_changed; ++k) {
    const int along = k % n;
    const int i = k < 2 * n ? along : k < 3 * n ? 0 : n - 1;
    const int j = k < n ? 0 : k < 2 * n ? n - 1 : along;
    const std::size_t at = static_cast<std::size_t>(j) * n + i;
    look.boundary_changed = two[at] != static_cast<float>(exact[at]);
    if (look.boundary_changed) look.boundary_i = i, look.boundary_j = j;
  }
  return look;
}

Diagnosis diagnose_cycles(const CycleLook& look, const Patient& patient) {
  const Case run = {lab::ProblemKind::kProbe, look.n, 2};
  const auto tell = [&](Answer answer) { return say(answer.with("n", look.n), run, patient); };
  if (look.boundary_changed) {
    return tell(
        Answer("cycle_changes_the_boundary").with("i", look.boundary_i).with("j", look.boundary_j));
  }
  if (look.n == kLeastN && std::isfinite(look.of_smooth)) {
    return tell(
        Answer("last_level_is_not_solved").with("scale", format("%.2f", 1 - look.of_smooth)));
  }
  // What a cycle begins with is what the one before has left, or not.
  const bool anew = look.before_second > 1.5 * look.after_first &&
                    std::fabs(look.before_second / look.before_first - 1) < 0.2;
  for (const bool rows : {true, false}) {
    const std::vector<int>& kept = rows ? look.rows_kept : look.columns_kept;
    if (kept.empty() || static_cast<int>(kept.size()) == look.n - 2) continue;
    return tell(Answer("cycle_leaves_out_lines")
                    .with("lines", rows ? "rows" : "columns")
                    .with("first", format(rows ? "j = %d" : "i = %d", kept.front()))
                    .with("count", static_cast<int>(kept.size())));
  }
  if (look.field_stays && !anew) return tell(Answer("second_cycle_changes_nothing"));
  // Many cycles come near, and no nearer: the floats of the defect, and not the cycle.
  if (look.of_smooth < kSmoothTooMuch && look.last_error < 1e-3) {
    return tell(Answer("defect_of_floats")
                    .with("error", format("%.1e", look.last_error))
                    .with("near", look.last_error < 3e-7));
  }
  if (look.only_sweeps) {
    return tell(Answer("only_sweeps")
                    .with("factor", factor_of_a_wave(look.of_lambda, look.of_square))
                    .with("as_meant", sweeps_as_meant(look))
                    .with("grows", look.of_lambda > 0));
  }
  if (anew) {
    return tell(Answer("cycle_begins_anew")
                    .with("before", format("%.2g", look.before_first))
                    .with("after", format("%.2g", look.after_first))
                    .with("second", format("%.2g", look.before_second)));
  }
  const double worst = std::max({look.of_rough, look.of_middle, look.of_other});
  if (std::isnan(worst)) return {};
  const bool rough_grow = look.of_rough > 1.1 && look.of_rough > 1.5 * std::fabs(look.of_smooth);
  if (std::fabs(look.of_smooth) > kSmoothTooMuch && !rough_grow) {
    const double scale = 1 - look.of_smooth;
    if (std::fabs(scale) < 0.2) return tell(Answer("no_coarse_correction"));
    return tell(Answer("coarse_correction_scaled")
                    .with("scale", format("%.2f", scale))
                    .with("negative", scale < 0)
                    .with("large", std::fabs(scale) > 1.5));
  }
  if (look.of_rough > kTooMuch && look.of_rough >= 0.8 * worst) {
    return tell(Answer("rough_errors_stay")
                    .with("left", format("%.2f", look.of_rough))
                    .with("huge", look.of_rough > 5));
  }
  if (worst > kTooMuch) {
    return tell(Answer("errors_between_stay").with("left", format("%.2f", worst)));
  }
  return {};
}

Diagnosis diagnose_cycles_made(const Case& run, int made, double residual, const Patient& patient) {
  if (const Answer few = half_a_sum(patient.source, false); few.known()) {
    return say(few, run, patient);
  }
  return say(Answer("cycle_loop_ends_early")
                 .with("asked", run.iterations)
                 .with("made", made)
                 .with("residual", format("%.3g", residual)),
             run, patient);
}

Diagnosis diagnose_cycle_sum(const Case& run, double found, double of_before,
                             const Patient& patient) {
  if (const Answer few = half_a_sum(patient.source, false); few.known()) {
    return say(few, run, patient);
  }
  const auto is = [&](double value) { return std::fabs(found - value) <= 1e-3 * value; };
  const char* const what =
      is(4 * of_before)   ? "four times as large as it should be: it is that of the defect, and "
                            "a sweep would change a point by a quarter of that"
      : is(2 * of_before) ? "twice as large as it should be: a factor 1/4 under the root only "
                            "halves it"
      : is(of_before * run.n)     ? "not divided by n"
      : is(of_before * of_before) ? "the mean of the squares; its root is missing"
                                  : nullptr;
  return say(
      what ? Answer("residual_of_a_cycle").with("what", what) : Answer("residual_of_another_level"),
      run, patient);
}

}  // namespace validate
