#include "judge/check_cycles.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <future>
#include <map>
#include <set>

#include <lab/exit_codes.h>
#include <lab/problem.h>

#include "explain/cycles.h"
#include "explain/explain_case.h"
#include "explain/looks/fields.h"
#include "reference/exact_solution.h"
#include "run/steps.h"
#include "run/temporary_folder.h"
#include "run/text.h"

namespace validate {
namespace {

using lab::ProblemKind;

/// After these cycles the error is too small for a float: 0.3^14 = 4.8e-8.
constexpr int kManyCycles = 14;
/// If it is not, more cycles are tried. They show whether the error still falls: 0.5^20 = 9.5e-7.
constexpr int kMoreCycles = 20;
/// On the largest grids this many cycles of the bank's right programs leave up to 2.2 times what
/// they leave at n = 250, and of the wrong one 258 times. Between these bounds more are tried.
constexpr int kLargestCycles = 4;
constexpr double kAsNear = 10, kTooFar = 100;
/// After this many iterations of one Jacobi sweep each, damped or not, a program has solved the
/// equations on 9 x 9 points: (1 - 0.8 * (1 - cos(pi / 8)))^250 = 1.5e-7.
constexpr int kSlowN = 9, kSlowIterations = 250;
/// On smaller grids a cycle's factor says nothing: one coarse point is solved at once. On the
/// largest it would take the CPU longer than all the rest.
constexpr int kLeastMeasuredN = 17;
/// Sweeps of floats come no nearer: each rounds by up to 2^-24, and hardly sees n^2 times as much.
constexpr double kSlowRounding = 1.0 * kSlowN * kSlowN / (1 << 24);
constexpr int kFirstN = 100;
/// While cycles are slow, larger grids are left out: their turn comes when a cycle leaves little.
constexpr int kLargestIfSlow = 250;
/// An odd one beyond every block's shape; what the discretisation leaves of `laplace` is seen here.
constexpr int kKnownN = 521;
/// 2^7 + 1: on every level each coarse point is on a fine one.
constexpr int kPowerN = 129;
/// Half a unit in the last place of the largest value, and as much for what is left of the error.
constexpr double kRounding = 1.0 / (1 << 23);

/// Odd and even ones, the smallest there are, and one beyond every block's shape. On the first
/// three most wrong programs are wrong. On the largest those are that no small grid shows: it takes
/// longest, and is not left to the end.
std::vector<Case> grids_of(const StepCheck& asked) {
  std::vector<Case> grids;
  const auto add_probes = [&grids](const std::vector<int>& sizes) {
    for (const int n : sizes) grids.push_back({ProblemKind::kProbe, n, kManyCycles});
  };
  if (asked.cases.empty()) {
    add_probes({kFirstN, kPowerN, kLargestIfSlow, kMaxExactN});
    grids.push_back({ProblemKind::kLaplace, kFirstN, kManyCycles});
    grids.push_back({ProblemKind::kHarmonic, kFirstN, kManyCycles});
    add_probes({3, 4, 5, 33, 64, 130, kKnownN});
  }
  std::set<int> sizes;
  for (const Case& run : asked.cases) {
    if (!sizes.insert(run.n).second) continue;
    add_probes({run.n});
    // If every access is looked at, few cycles are asked for, and one grid gets them all.
    if (run.iterations <= kFrom && grids.size() > 1) grids.back().iterations = run.iterations;
  }
  return grids;
}

/// The grid on which a cause is looked for. It is the one that is wrong, if that is small: a
/// program that is not finished may be made for no other.
int looked_at(int wrong_n) { return std::clamp(wrong_n, 32, 130); }

/// What a sweep would change: sqrt(sum (mean of the neighbours - value)^2) / n.
double residual_of(const std::vector<float>& field, int n) {
  double sum = 0;
  for (int j = 1; j < n - 1; ++j) {
    for (int i = 1; i < n - 1; ++i) {
      const float* f = &field[static_cast<std::size_t>(j) * n + i];
      const double change = (double(f[1]) + f[-1] + f[n] + f[-n]) / 4 - f[0];
      sum += change * change;
    }
  }
  return std::sqrt(sum) / n;
}

class CycleCheck {
 public:
  /// Once the result is `unwanted`, no program runs any more. The verdict means nothing then.
  /// Before a cause is looked for, `look_ends` waits for a look at every access that goes on beside
  /// this.
  CycleCheck(const StepCheck& asked, const std::string& program, const Progress& progress,
             const std::atomic<bool>* unwanted = nullptr, std::function<void()> look_ends = {})
      : asked_(asked),
        unwanted_(unwanted),
        look_ends_(std::move(look_ends)),
        check_{program, folder_.path(), asked.time_limit, progress, asked.at_hand, unwanted},
        patient_(patient_of(check_, "", {})) {
    patient_.step = kFirstCycleStep;
  }

  /// Few cycles, of which every access is looked at.
  Verdict look() {
    return verdict_of([&] {
      for (const int n : asked_.look_at) field_after({ProblemKind::kProbe, n, 2});
    });
  }

  Verdict reach(const std::vector<Case>& grids, int own_n) {
    return verdict_of([&] {
      judge_grids(grids);
      if (asked_.cases.empty() && asked_.every_order && !is_slow_) judge_orders();
      if (own_n > 0) judge_large(own_n);
      for (const int n : right_) measure(n);
      say_right();
    });
  }

 private:
  /// Thrown once the verdict is known, or not wanted any more.
  struct Decided {};

  template <class Judge>
  Verdict verdict_of(Judge judge) {
    try {
      judge();
    } catch (const Decided&) {
    }
    return verdict_;
  }

  [[noreturn]] void wrong(const Case& run, const Explanation& found) {
    verdict_.becomes_wrong(run, found);
    throw Decided();
  }

  const std::vector<double>& exact(ProblemKind problem, int n) {
    std::vector<double>& solution = exact_[{static_cast<int>(problem), n}];
    if (solution.empty()) solution = exact_solution(lab::Problem(problem, n));
    return solution;
  }

  void make(const Case& run) {
    check_.progress(describe(run));
    last_ = run_program(check_.program, run, check_.dir, check_.time_limit, unwanted_);
    ++runs_;
    if (unwanted_ && *unwanted_) throw Decided();
  }

  /// The field that the run just made has left. If it left none, the verdict says why.
  std::vector<float> field_of(const Case& run) {
    if (verdict_.cannot_run(last_)) throw Decided();
    std::vector<float> field;
    std::string ignored;
    if (last_.error.empty() && !read_field(check_.dir, run.n, &field, &ignored)) {
      last_.error = "the field in its record cannot be read";
    }
    const int made = last_.record.iterations;
    if (last_.error.empty() && made < run.iterations && run.tolerance == 0) {
      if (std::isinf(error_of(field, std::vector<double>(field.size(), 1.0)))) {
        explain(run, HUGE_VAL);
      }
      const Diagnosis diagnosis = diagnose_cycles_made(run, made, last_residual(), patient_);
      wrong(run, {diagnosis.lines(), diagnosis.rule()});
    }
    if (!last_.error.empty()) wrong(run, explain_failure(check_, run, last_, {}, &patient_));
    return field;
  }

  std::vector<float> field_after(const Case& run) {
    make(run);
    return field_of(run);
  }

  /// The cause, as the fields after one and two cycles show it.
  Diagnosis diagnose(int n, double error) {
    const auto one = patient_.ask({ProblemKind::kProbe, n, 1});
    const auto two = patient_.ask({ProblemKind::kProbe, n, 2});
    if (!one || !two) return {};
    const lab::Problem problem(ProblemKind::kProbe, n);
    const Field start = validate::field_of(problem.initial_old(), n);
    CycleLook look = look_at_cycles(n, exact(problem.kind(), n), one->field, two->field);
    look.last_error = error;
    if (!one->residuals.empty()) look.before_first = one->residuals.back().value;
    if (!two->residuals.empty()) look.before_second = two->residuals.back().value;
    look.after_first = residual_of(one->field, n);
    if (n > kLeastN) {  // there all slips look alike
      const bool from_start = std::fabs(look.before_first / residual_of(start, n) - 1) < 1e-3;
      const Answer slip =
          slip_of_cycles(n, start, one->field, two->field, from_start, patient_.source);
      if (slip.known()) return say(slip, {}, patient_);
    }
    return diagnose_cycles(look, patient_);
  }

  [[noreturn]] void explain(const Case& run, double error) {
    check_.progress("looking for the cause");
    if (look_ends_) look_ends_();
    if (unwanted_ && *unwanted_) throw Decided();
    const bool small = run.n > kLeastN && run.n < kLeastMeasuredN && right_.count(kFirstN) > 0;
    // Where no level is right for an even number of points, say, a larger grid shows it.
    const int n = small ? kFirstN : run.n == kLeastN ? run.n : looked_at(run.n);
    Diagnosis diagnosis = diagnose(n, error);
    if (small && diagnosis.rule() != "cycle_with_a_slip") diagnosis = {};
    const int right = right_.empty() ? run.n : *right_.rbegin();
    if (diagnosis.rule().empty() && right < run.n) {
      Answer answer("wrong_only_at_a_large_n");
      diagnosis = say(answer.with("n", run.n).with("right", right), {}, patient_);
    }
    std::vector<std::string> lines = diagnosis.lines();
    lines.push_back(
        format("after %d cycles the field is %.1e away from the exact solution of the "
               "discrete equations",
               run.iterations, error));
    lines.push_back(
        format("  (its largest distance, relative to the largest value; a right one is at "
               "most %.1e away, the rounding to floats)",
               kRounding));
    wrong(run, {lines, diagnosis.rule()});
  }

  /// Whether a field that was `before` away after kManyCycles and is `error` away after kMoreCycles
  /// comes nearer with each cycle: then it is right, and slow. The whole way is tried on a small
  /// grid only.
  bool slow(double before, double error) {
    if (!(error < 0.9999 * before)) return false;
    if (error < 1e-5 && error > 0.94 * before) return false;  // it has come as near as it can
    if (is_slow_) return true;
    const Case small = {ProblemKind::kProbe, kSlowN, kSlowIterations};
    return is_slow_ = error_of(field_after(small), exact(small.problem, kSlowN)) <= kSlowRounding;
  }

  /// Measures what a cycle leaves of the error at n, if that says something.
  void measure(int n) {
    if (n < kLeastMeasuredN || n >= kMaxExactN || falls_.count(n) > 0) return;
    const std::vector<double>& solution = exact(ProblemKind::kProbe, n);
    const double before = error_of(field_after({ProblemKind::kProbe, n, kFrom}), solution);
    const double after = error_of(field_after({ProblemKind::kProbe, n, kTo}), solution);
    falls_[n] = {left_by_a_cycle(before, after), after};
  }

  /// Whether the last run, whose field is `error` away, comes no nearer: its residual no longer
  /// falls, and not because it is as small as floats can make it.
  bool no_nearer(double error) const {
    constexpr double kFar = 1e-3;
    const auto& residuals = last_.record.residuals;
    const std::size_t count = residuals.size();
    return residuals_right_ && error > kFar && count > 1 &&
           residuals[count - 1].value >= residuals[count - 2].value;
  }

  /// Runs one grid, and compares. Returns if it is right.
  void judge(const Case& grid) {
    const std::vector<double>& solution = exact(grid.problem, grid.n);
    // The two largest grids would take the CPU longer than all others: few cycles, then, which must
    // leave about what they leave on a smaller one. If they do not, it takes its time.
    const bool takes_long =
        grid.n == kMaxExactN || (grid.n == kKnownN && falls_.count(kLargestIfSlow) > 0);
    if (takes_long && asked_.cases.empty()) {
      measure(kLargestIfSlow);
      measure(grid.n);
      const bool measured = falls_.count(grid.n) > 0;
      const Case few = {grid.problem, grid.n, measured ? kTo : kLargestCycles};
      const double error = measured ? falls_[grid.n].after : error_of(field_after(few), solution);
      const Fall& smaller = falls_[kLargestIfSlow];
      const double there = smaller.after / std::pow(smaller.left, kTo - few.iterations);
      if (error <= kAsNear * there) return;
      if (error > kTooFar * there) explain(few, error);
    }
    Case run = grid;
    const double before = error_of(field_after(run), solution);
    if (before <= kRounding) return;
    if (no_nearer(before)) explain(run, before);
    run.iterations = kMoreCycles;
    const double error = error_of(field_after(run), solution);
    if (error <= kRounding) return;
    if (grid.problem == ProblemKind::kProbe) {
      measure(grid.n);
      // Fast at first, and not even halved per cycle from then on: it has come as near as it can.
      const auto fall = falls_.find(grid.n);
      if (fall != falls_.end() && fall->second.left <= kMostLeft &&
          error > fall->second.after * std::pow(0.5, kMoreCycles - kTo)) {
        explain(run, error);
      }
    }
    if (!slow(before, error)) explain(run, error);
  }

  double last_residual() const { return last_.record.residuals.back().value; }

  void judge_grids(const std::vector<Case>& grids) {
    for (const Case& grid : grids) {
      if (is_slow_ && grid.n > kLargestIfSlow && asked_.cases.empty()) continue;
      if (grid.iterations < kManyCycles) {
        field_after(grid);
        verdict_.remarks.push_back(
            format("At n = %d only %d cycles were looked at.", grid.n, grid.iterations));
        continue;
      }
      grid.n > kMaxExactN ? judge_large(grid.n) : judge(grid);
      if (grid.problem == ProblemKind::kProbe) right_.insert(grid.n);
      // After the first grid: the others make use of it that the residuals are right.
      if (!residuals_right_ && (asked_.cases.empty() || asked_.every_order)) {
        judge_residuals();
        judge_stopping();
        residuals_right_ = true;
      }
    }
  }

  /// Each residual is that of the field with which its cycle begins, which is what a run of one
  /// cycle less leaves, rounded to floats: that changes the mean of four neighbours less the value
  /// by less than 2^-24 of the largest value.
  void judge_residuals() {
    Case next = {ProblemKind::kProbe, kFirstN, 1};
    std::vector<float> field, after = field_after(next);
    for (const int before : {1, 2, 3}) {
      field.swap(after);
      next.iterations = before + 1;
      after = field_after(next);
      const double expected = residual_of(field, next.n), found = last_residual();
      if (std::fabs(found - expected) <= kRounding / 2 + 1e-6 * expected) continue;
      const Diagnosis diagnosis = diagnose_cycle_sum(next, found, expected, patient_);
      std::vector<std::string> lines = diagnosis.lines();
      lines.push_back(format("the residual of cycle %d is wrong: expected %.9g, found %.9g",
                             next.iterations, expected, found));
      wrong(next, {lines, diagnosis.rule()});
    }
  }

  /// Does it also stop by itself, at the first residual that meets a tolerance?
  void judge_stopping() {
    constexpr int kMeets = 4;
    Case run = {ProblemKind::kLaplace, kFirstN, kMeets};
    field_after(run);
    const auto residuals = last_.record.residuals;
    if (residuals.size() < 2) wrong(run, {{"it records fewer residuals than cycles"}});
    run.tolerance = std::sqrt(residuals[residuals.size() - 2].value * residuals.back().value);
    run.iterations = kManyCycles;
    field_after(run);
    const int made = last_.record.iterations;
    if (made == kMeets) return;
    wrong(run,
          {{format("its residual meets --tolerance %.3g in cycle %d, and it should stop there; "
                   "it stops after %d",
                   run.tolerance, kMeets, made),
            "  Look at the loop's condition: it goes on while residual > options.tolerance."}});
  }

  /// On the CPU: with threads in other orders a race shows.
  void judge_orders() {
    for (const char* order : {"reverse", "shuffled"}) {
      Case run = {ProblemKind::kProbe, kFirstN, kMoreCycles};
      run.order = order;
      const double error = error_of(field_after(run), exact(run.problem, run.n));
      if (error <= kRounding) continue;
      wrong(run, {{format("diagnosis: with the threads run in %s order the field is %.1e away from "
                          "the exact solution; forward it is right: a race",
                          order, error),
                   "look at: a barrier between the threads that write a tile and those that read "
                   "it, and between the levels of a kernel that does several"}});
    }
    verdict_.remarks.push_back(
        "The same with blocks and threads in reverse and in shuffled order.");
  }

  /// A grid too large for the exact discrete solution: its distance from the solution of the
  /// differential equation is the discretisation's, which falls with the square of 1 / (n - 1), and
  /// that of the rounding to floats.
  void judge_large(int own_n) {
    const lab::Problem known(ProblemKind::kLaplace, kKnownN);
    const std::vector<double>& solution = exact(ProblemKind::kLaplace, kKnownN);
    double squares = 0, difference = 0;
    for (const double value : solution) {
      const double rounding = static_cast<float>(value) - value;
      difference += rounding * rounding;
      squares += value * value;
    }
    const std::vector<float> rounded(solution.begin(), solution.end());
    const double there = known.distance_to_exact(rounded.data(), 1, kKnownN);
    const double shrinks = std::pow((kKnownN - 1.0) / (own_n - 1.0), 2);
    const double expected = std::hypot(there * shrinks, std::sqrt(difference / squares));

    Case run = {ProblemKind::kLaplace, own_n, kManyCycles};
    make(run);
    if (last_.child.exit_code == lab::kExitDoesNotFit && !last_.machine.empty()) {
      verdict_.remarks.push_back(format("n = %d was not tried: ", own_n) + last_.machine);
      return;
    }
    const double distance =
        lab::Problem(run.problem, own_n).distance_to_exact(field_of(run).data(), 1, own_n);
    if (distance <= 1.1 * expected || is_slow_) {
      verdict_.remarks.push_back(
          format("at n = %d the field is %.3e away from the exact solution of "
                 "the differential equation",
                 own_n, distance));
      return;
    }
    wrong(run, {{format("the field is %.2e away from the exact solution, and the discretisation "
                        "and the rounding to floats explain only %.2e",
                        distance, expected),
                 "look at: what is computed from n alone, as an int or as a float: a place in a "
                 "grid, an index, the number of levels"},
                "wrong_only_at_a_large_n"});
  }

  void say_right() {
    verdict_.becomes_right(runs_, right_,
                           is_slow_ ? "each cycle comes nearer to the exact solution"
                                    : "the exact discrete solution, rounded to floats");
    double most_left = 0;
    int most_left_n = 0;
    for (const auto& [n, fall] : falls_) {
      if (fall.left > most_left) most_left = fall.left, most_left_n = n;
    }
    if (most_left <= 0) return;
    verdict_.remarks.push_back(
        format("A cycle leaves %.3f of the error at n = %d%s.", most_left, most_left_n,
               falls_.size() > 1 ? ", and less at the other sizes that were measured" : ""));
    if (most_left <= kMostLeft) return;
    verdict_.remarks.push_back(
        format("Correct, and not yet multigrid: that leaves at most %.1f, whatever n.", kMostLeft));
    const Diagnosis diagnosis =
        diagnose(asked_.cases.empty() ? kFirstN : looked_at(most_left_n), 1);
    for (const std::string& line : diagnosis.lines()) verdict_.remarks.push_back(line);
    verdict_.rule = diagnosis.rule();
  }

  const TemporaryFolder folder_;
  const StepCheck& asked_;
  const std::atomic<bool>* const unwanted_;
  const std::function<void()> look_ends_;
  const Check check_;
  Patient patient_;
  Verdict verdict_;
  Run last_;  ///< the last run
  std::map<std::pair<int, int>, std::vector<double>> exact_;
  std::set<int> right_;  ///< sizes
  struct Fall {
    double left;   ///< of the error, by a cycle
    double after;  ///< the error after kTo cycles
  };
  std::map<int, Fall> falls_;     ///< by n
  bool residuals_right_ = false;  ///< they were looked at, on the first grid
  int runs_ = 0;
  bool is_slow_ = false;
};

}  // namespace

double error_of(const std::vector<float>& field, const std::vector<double>& exact) {
  double largest = 0, error = 0;
  for (std::size_t k = 0; k < exact.size(); ++k) {
    const double distance = std::fabs(field[k] - exact[k]);
    if (!(distance <= error)) error = std::isnan(distance) ? HUGE_VAL : distance;
    if (std::isinf(error)) return error;
    largest = std::max(largest, std::fabs(exact[k]));
  }
  return error / largest;
}

Verdict check_cycles(const StepCheck& asked, const Progress& progress) {
  const bool both = asked.at_hand.gpu && !asked.on_cpu.empty() && asked.cases.empty();
  // The look has found a mistake; the verdict is known without it. Either ends the other's runs.
  std::atomic<bool> found{false}, decided{false};
  std::function<void()> look_ends;
  std::future<Verdict> beside, on_cpu;
  if (!asked.look_at.empty()) {
    beside = std::async(std::launch::async, [&] {
      Verdict seen = CycleCheck(asked, asked.at_hand.watched, quietly, &decided).look();
      found = seen.kind == Verdict::kWrong;
      return seen;
    });
    look_ends = [&] { beside.wait(); };
  }
  // Each start on a GPU takes half a second. Beside it the CPU answers what needs no GPU.
  if (both) {
    on_cpu = std::async(std::launch::async, [&] {
      StepCheck all = asked;
      all.every_order = true;
      return CycleCheck(all, asked.on_cpu, quietly, &found, look_ends).reach(grids_of(asked), 0);
    });
  }
  std::vector<Case> grids = grids_of(asked);
  if (both) {
    grids = {{ProblemKind::kProbe, kFirstN, kManyCycles},
             {ProblemKind::kLaplace, kFirstN, kManyCycles},
             {ProblemKind::kHarmonic, kFirstN, kManyCycles},
             {ProblemKind::kProbe, kKnownN, kManyCycles}};
  }
  if (!wait_for_build(asked.built)) {
    found = decided = true;
    return {Verdict::kNoProgram};
  }
  const int own_n = asked.at_hand.gpu && asked.cases.empty() ? default_n(asked.program) : 0;
  Verdict verdict =
      CycleCheck(asked, asked.program, progress, &found, look_ends).reach(grids, own_n);
  if (both && (verdict.kind == Verdict::kRight || verdict.kind == Verdict::kWrong)) {
    progress("on the CPU instead of the GPU");
    Verdict cpu = on_cpu.get();
    cpu.remarks.clear();  // the GPU's own say the same
    const bool both_right = cpu.kind == Verdict::kRight && verdict.kind == cpu.kind && !found;
    if (cpu.kind == Verdict::kWrong || both_right) {
      verdict = verdict_of_both(verdict, cpu);
    }
  }
  decided = verdict.kind != Verdict::kRight;
  if (verdict.kind == Verdict::kRight && beside.valid()) {
    add_look(asked.at_hand.gpu, beside.get(), &verdict);
  }
  return verdict;
}

}  // namespace validate
