#include "judge/check_program.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <future>
#include <optional>
#include <utility>

#include <lab/exit_codes.h>

#include "judge/compare.h"
#include "judge/trials.h"
#include "run/record.h"
#include "run/steps.h"
#include "run/temporary_folder.h"
#include "run/text.h"

namespace validate {
namespace {

/// What the order of threads, in which alone this was found, says of it. `access`: an allocation
/// was accessed where it should not be, which does harm or not, by what lies there. `told`: the
/// diagnosis names a line.
std::string in_other_order(const Case& run, bool access, bool told) {
  return format("That is with the threads run in %s order; in forward order it ", run.order) +
         (access ? "does not show."
          : told ? "is right."
                 : "is right: a race?");
}

bool is_right(const Case& run, const Trial& trial) {
  return trial.run.error.empty() && trial.error.empty() &&
         trial.residuals.kind != ResidualComparison::kWrong &&
         trial.field.kind != FieldComparison::kWrong &&
         trial.run.record.iterations == run.iterations;
}

/// The iteration in which the residual of a run to a tolerance is to meet it: no multiple of a
/// --check-every that is tried.
constexpr int kMeets = 13;

/// The run to a tolerance that goes with these cases, whose residual is to meet it in iteration
/// kMeets, if one is fit for that. A job has as many ranks as any of this n: each decides by itself
/// whether to go on.
std::optional<Case> run_to_tolerance(const std::vector<Case>& cases) {
  for (Case run : cases) {
    if (run.problem == lab::ProblemKind::kLaplace && run.n >= 20 && run.n <= 250 &&
        run.iterations > kMeets) {
      for (const Case& other : cases) {
        if (other.n == run.n) run.ranks = std::max(run.ranks, other.ranks);
      }
      run.iterations = 200;  // past two checks of any step
      return run;
    }
  }
  return std::nullopt;
}

/// A run to a tolerance: whether the program stops where its residual first meets it. (Known is
/// that runs of a given number of iterations are right.) Returns what is wrong, or nothing.
/// `expected`: the residuals; `sparse`: it computes one only every few sweeps.
std::vector<std::string> check_stopping(const Run& trial, const Case& run,
                                        const std::vector<double>& expected, bool sparse) {
  const int made = trial.record.iterations;
  if (!trial.error.empty() && run.ranks > 1) {
    return {
        "diagnosis: as long as no tolerance is asked for, all is right: the ranks do not agree on "
        "where to stop, and those that go on wait for the others",
        "look at: whether every rank gets the residual of all ranks: each decides by itself "
        "whether to go on",
        trial.error};
  }
  const std::string meets =
      format("its residual meets --tolerance %.3g in iteration %d, and it should stop there; ",
             run.tolerance, kMeets);
  if (!trial.error.empty() && made == 0) {
    return {meets + (trial.child.exit_code <= lab::kExitNotConverged ? "it performs no sweep at all"
                                                                     : trial.error),
            "  Look at what the residual is before the loop: larger than any tolerance?"};
  }
  if (!trial.error.empty()) return {trial.error};
  if (made == run.iterations) {
    return {
        meets + format("it goes on to --max-iterations %d", made),
        "  Look at the loop's condition: it ends when residual > options.tolerance does not hold."};
  }
  // A step that computes few residuals stops at one of the next checks.
  if (made < kMeets || (!sparse && made > kMeets)) {
    return {
        meets + format("it stops after %d", made),
        made < kMeets
            ? "  Look at the loop's condition, what the residual is before it, and what a `break` "
              "leaves out."
            : "  Look at the loop's condition: is it this sweep's residual?"};
  }
  const ResidualComparison compared = compare_residuals(expected, trial.record.residuals, run.n);
  if (compared.kind != ResidualComparison::kWrong) return {};
  std::vector<std::string> lines = {
      "its residuals are not those of the same run without --tolerance"};
  describe_residual(compared, &lines);
  for (std::size_t k = 0; k < expected.size(); ++k) {
    if (std::fabs(compared.found - expected[k]) > 1e-9 * expected[k]) continue;
    lines.push_back(format("  that is the residual of iteration %zu", k + 1));
  }
  lines.push_back("look at: what is recorded when the loop ends, and whether it is that sweep's");
  return lines;
}

/// A check under way: the runs that are left, and what those before them say together.
class Judgement {
 public:
  Judgement(const std::string& program, const std::vector<Case>& cases, double time_limit,
            const Progress& progress, const AtHand& at_hand, const Extent& extent)
      : check_{program, folder_.path(), time_limit, progress, at_hand, extent.decided},
        extent_(extent),
        given_(cases),
        cases_(cases),
        unwanted_(extent.unwanted ? *extent.unwanted : own_unwanted_) {}
  ~Judgement() { unwanted_ = true; }  // and waits for the run to a tolerance

  Verdict reach() {
    try {
      for (std::size_t k = 0; k < cases_.size(); ++k) {
        if (k > 0 && cases_[k].n >= kLargestUsualN) end_small_grids();
        judge(k);
      }
      end_small_grids();
      say_right();
    } catch (const Decided&) {
    }
    return verdict_;
  }

 private:
  /// Thrown once the verdict is known, or not wanted any more.
  struct Decided {};

  [[noreturn]] void wrong(const Case& run, Explanation found, bool access = false) {
    std::vector<std::string>& lines = found.lines;
    const bool told = std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
      return line.rfind("diagnosis: ", 0) == 0 && says(line, "line ");
    });
    if (run.order) lines.push_back(in_other_order(run, access, told));
    if ((run.n == kMultipleN || run.n == kLargeMultipleN) && sizes_.size() > 1) {
      lines.push_back(
          "So far the other grids are right, but their sizes are not multiples of any block's "
          "shape. Is something computed with n % ...? It is 0 here.");
    }
    verdict_.becomes_wrong(run, found);
    throw Decided();
  }

  void judge(std::size_t k) {
    const Case run = cases_[k];
    const bool first = k == 0;
    check_.progress(describe(run));
    std::optional<WatchedRun> look;
    Trial trial = first ? try_first(check_, run, &unwanted_, &look) : trials_->get(k);
    if (unwanted_) throw Decided();
    if (!first && skips(run, trial.run)) return;
    if (cannot_run(run, first, trial.run)) throw Decided();
    Patient patient = patient_of(check_, trial.run.record.step, run);
    if (first && trial.run.error.empty() && patient.step >= kFirstCycleStep) {
      verdict_.kind = Verdict::kByCycles;
      throw Decided();
    }
    if (first) plan_the_rest(trial.run, patient.step);
    compare(run, &trial, look, &patient);
    if (first) begin_to_stop();
  }

  /// What is found without the largest grids, once.
  void end_small_grids() {
    if (std::exchange(small_grids_ended_, true)) return;
    look_at_it();
    judge_stopping();
  }

  /// Before where it stops: a race that loses an addition now and then may show there alone.
  void look_at_it() {
    if (!extent_.look) return;
    Verdict found = extent_.look();
    looked_at_ = found.kind == Verdict::kRight;
    if (found.kind != Verdict::kWrong) return;
    trials_->stop();
    verdict_ = std::move(found);
    throw Decided();
  }

  /// Whether a run that the program refuses is left out.
  bool skips(const Case& run, const Run& trial) {
    // Whose passes have more sweeps than the solution's needs more rows per rank, and says so.
    if (run.n == kFewRowsARank * run.ranks && trial.child.exit_code == lab::kExitBadUsage) {
      return true;
    }
    const bool fits = trial.child.exit_code != lab::kExitDoesNotFit || trial.machine.empty();
    if (fits || run.n != extent_.own_n) return false;
    verdict_.remarks.push_back(format("n = %d, its own, was not tried: ", run.n) + trial.machine);
    return true;
  }

  /// Whether this machine, and not the program, keeps the run from a result.
  bool cannot_run(const Case& run, bool first, const Run& trial) {
    if (verdict_.cannot_run(trial)) return true;
    if (trial.error.empty() || run.ranks == 0 || !first) return false;
    const std::string why_not = why_no_jobs(check_.time_limit);
    return !why_not.empty() && verdict_.becomes(Verdict::kCannotRunHere, why_not);
  }

  /// After the first run it is known which step this is, and whether it is done: what else to try.
  void plan_the_rest(const Run& first, int step) {
    if (step >= kFirstSparseStep) {
      // An exercise that is not done yet computes every residual, as the step before did.
      sparse_ = static_cast<int>(first.record.residuals.size()) < first.record.iterations;
      // A job of ranks takes seconds to start on GPUs. There one of the given cases and the run to
      // a tolerance have other distances of residuals, and the CPU tries all.
      if (sparse_ && !(extent_.few_checks && given_[0].ranks > 0)) {
        const std::vector<Case> more = cases_of_checks(
            extent_.few_checks ? std::vector<Case>{given_[0]} : given_, extent_.watched);
        cases_.insert(cases_.end(), more.begin(), more.end());
      } else if (!sparse_ && first.error.empty() && given_[0].iterations > 1) {
        verdict_.remarks.push_back(
            "it computes the residual in every iteration; --check-every was not tried");
      }
    }
    if (extent_.sizes || extent_.few_checks) lengthen_passes(step, &cases_);
    // The largest grids wait for all small ones, which in reverse order find most races: a run
    // takes longer there, and so does each that explains it.
    const auto large = std::stable_partition(
        cases_.begin() + 1, cases_.end(), [](const Case& run) { return run.n < kLargestUsualN; });
    const std::vector<Case> largest(large, cases_.end());
    cases_.erase(large, cases_.end());
    const std::vector<Case> small = cases_;
    if (extent_.every_order) add_order("reverse", small, &cases_);
    cases_.insert(cases_.end(), largest.begin(), largest.end());
    add_sizes(step, extent_.sizes, extent_.own_n, extent_.own_ranks, &cases_);
    if (extent_.every_order) {
      add_order("reverse", largest, &cases_);
      add_order("shuffled", small, &cases_);
    }
    trials_.emplace(check_.program, cases_, first.child.cpu_seconds, check_.folder,
                    check_.time_limit, &unwanted_);
  }

  /// Returns if it is right.
  void compare(const Case& run, Trial* trial, const std::optional<WatchedRun>& look,
               Patient* patient) {
    if (!is_right(run, *trial)) {
      trials_->stop();
      verdict_.too_slow = trial->run.child.timed_out;
      if (!extent_.explain) wrong(run, {{}});
      if (trial->run.error.empty() && !trial->error.empty()) wrong(run, {{trial->error}});
      const Explanation found = trial->run.error.empty()
                                    ? explain_wrong(check_, run, trial, patient)
                                    : explain_failure(check_, run, trial->run, look, patient);
      // Before or behind an allocation or a shared array, or in what was freed.
      const auto beside = [](const cuda_on_cpu::Report& report) {
        return report.allocated_line > 0 || report.kind.rfind("shared_", 0) == 0;
      };
      wrong(run, found, beside(trial->run.report) || beside(patient->finding.report));
    }
    const FieldComparison& field = trial->field;
    if (field.kind == FieldComparison::kDifferentRounding) {
      // Another order of additions gives the same bits every time, and a race that lost little
      // does not.
      if (two_runs_differ(run, *patient)) {
        wrong(run, {{"two runs of it give different fields: a race (is a barrier missing, or "
                     "misplaced?)"},
                    "race"});
      }
      if (sparse_ && run.check_every != 1) {
        const Explanation few = too_few_to_be_rounding(run, field, *patient);
        if (!few.lines.empty()) wrong(run, few);
      }
      different_rounding_ = true;
    }
    single_precision_ |= trial->residuals.kind == ResidualComparison::kSinglePrecision;
    const int first = trial->run.record.residuals[0].iteration;
    if (run.check_every > 0 && first != std::min(run.check_every, run.iterations)) {
      ignores_checks_ = true;
    }
    sizes_.insert(run.n);
    if (run.n == extent_.own_n && run.n >= kHashedRecordN) {
      verdict_.remarks.push_back(format("at n = %d, its own: %d sweeps, compared by a hash per row",
                                        run.n, run.iterations));
    }
  }

  /// The other runs have a given number of iterations. This one, beside them, has to stop by
  /// itself.
  void begin_to_stop() {
    to_tolerance_ = run_to_tolerance(given_);
    if (!to_tolerance_) return;
    Case& run = *to_tolerance_;
    expected_ = expected_of(run, run.iterations).residuals;
    // Ranks that do not agree differ at the first check; the tolerance is met at the second one.
    if (sparse_ && run.ranks > 1) run.check_every = 7;
    run.tolerance = std::sqrt(expected_[kMeets - 2] * expected_[kMeets - 1]);
    stopping_ = std::async(std::launch::async, [this] {
      return run_program(check_.program, *to_tolerance_, folder_.path() + "/to_tolerance",
                         check_.time_limit, &unwanted_);
    });
  }

  void judge_stopping() {
    if (!to_tolerance_) return;
    check_.progress(describe(*to_tolerance_));
    const Run trial = stopping_.get();
    if (unwanted_ || verdict_.cannot_run(trial)) throw Decided();
    if (says(trial.error, "is recorded after iteration")) {
      Patient patient = patient_of(check_, "", *to_tolerance_);
      wrong(*to_tolerance_, explain_failure(check_, *to_tolerance_, trial, {}, &patient));
    }
    const std::vector<std::string> lines =
        check_stopping(trial, *to_tolerance_, expected_, sparse_);
    if (!lines.empty() && trial.error.empty() && !trial.record.residuals.empty() &&
        trial.record.iterations < kMeets) {
      const int each = trial.record.residuals.front().iteration;
      const int stop = (kMeets + each - 1) / each * each;
      if (ends_with(stop)) {
        wrong(*to_tolerance_,
              {{format("it stops in iteration %d, as it should, but does not record that residual",
                       stop),
                "look at: run.record in the loop of main: nothing ends the loop before it"}});
      }
    }
    if (!lines.empty()) wrong(*to_tolerance_, {lines});
    judge_field_at_the_stop(trial.record);
  }

  bool ends_with(int sweeps) {
    const Case& run = *to_tolerance_;
    std::vector<float> field;
    std::string error;
    if (!read_field(folder_.path() + "/to_tolerance", run.n, &field, &error)) wrong(run, {{error}});
    return compare_with_right(run, sweeps, field).kind != FieldComparison::kWrong;
  }

  /// The field with which it stops has had all sweeps, too.
  void judge_field_at_the_stop(const Record& record) {
    const int made = record.iterations, each = record.residuals.front().iteration;
    if (ends_with(made)) return;
    std::vector<std::string> lines = {
        format("it stops in iteration %d, as it should, but its field is not that of %d sweeps",
               made, made)};
    if (ends_with(made - 1)) lines[0] += ": the last one is missing";
    // With passes in flight.
    for (int later = made + 1; later <= made + 3 * each; ++later) {
      if (!ends_with(later)) continue;
      wrong(*to_tolerance_,
            {{format("it stops in iteration %d, but its field is that of %d sweeps: what was "
                     "queued by then is performed as well",
                     made, later),
              "look at: the end of main: sweeps that are queued when the tolerance is met count as "
              "well, so the last residual that run.record gets is theirs"}});
    }
    lines.push_back(
        "look at: what follows a sweep (a copy, or a swap, that makes the new field the old one): "
        "it has to be done before the loop ends, after the last sweep, too");
    wrong(*to_tolerance_, {lines});
  }

  void say_right() {
    verdict_.becomes_right(
        static_cast<int>(cases_.size()) + to_tolerance_.has_value(), sizes_,
        std::string(different_rounding_ ? "fields within rounding" : "fields bit for bit") +
            (single_precision_ ? ", residuals within 1e-6" : ", residuals within rounding"));
    if (different_rounding_) {
      verdict_.remarks.push_back(
          "different rounding: the four neighbours are added in another order, or in double. That "
          "is legal.");
    } else if (single_precision_) {
      verdict_.remarks.push_back(
          "residual within 1e-6: its sum is of floats in part (single precision), or its changes "
          "are taken in double. That is legal.");
    }
    if (ignores_checks_) {
      verdict_.remarks.push_back(
          "it ignores --check-every: options.check_every is the number of sweeps of a pass, and "
          "kCheckEvery only its default.");
    }
    if (extent_.every_order) {
      verdict_.remarks.push_back(
          "The same with blocks and threads in reverse and in shuffled order.");
    }
    if (looked_at_) verdict_.remarks.push_back(kNothingSeen);
  }

  const TemporaryFolder folder_;
  const Check check_;
  const Extent& extent_;
  const std::vector<Case>& given_;
  std::vector<Case> cases_;  ///< all that are run: the given ones, and what `extent` adds
  Verdict verdict_;
  std::set<int> sizes_;  ///< that were right
  bool different_rounding_ = false, single_precision_ = false;
  bool small_grids_ended_ = false, looked_at_ = false;
  bool ignores_checks_ = false;  ///< it computes residuals at other distances than it is told to
  bool sparse_ = false;          ///< it computes a residual only every few sweeps
  std::atomic<bool> own_unwanted_{false};
  std::atomic<bool>& unwanted_;       ///< no run is needed any more
  std::optional<Trials> trials_;      ///< of all cases
  std::optional<Case> to_tolerance_;  ///< a run that has to stop by itself, beside the trials
  std::vector<double> expected_;      ///< its residuals
  std::future<Run> stopping_;
};

}  // namespace

bool Verdict::becomes(Kind what, const std::string& said) {
  kind = what;
  summary = said;
  return true;
}

void Verdict::becomes_right(int runs, const std::set<int>& sizes, const std::string& how) {
  std::string list;
  for (int n : sizes) list += (list.empty() ? "" : ", ") + std::to_string(n);
  becomes(kRight, "right: " + counted(runs, "run") + ", n = " + list + "; " + how);
}

void Verdict::becomes_wrong(const Case& first_wrong, const Explanation& found) {
  details.insert(details.end(), found.lines.begin(), found.lines.end());
  run = first_wrong;
  rule = found.rule;
  becomes(kWrong, "wrong: " + describe(run));
}

bool Verdict::cannot_run(const Run& run) {
  if (!run.child.started) return becomes(kNoProgram, run.error);
  if (run.child.exit_code == lab::kExitNoGpu) return becomes(kNoGpu, last_words(run.child));
  return !run.machine.empty() && becomes(kCannotRunHere, run.machine);
}

Verdict check_program(const std::string& program, const std::vector<Case>& cases,
                      double time_limit_seconds, const Progress& progress, const AtHand& at_hand,
                      const Extent& extent) {
  return Judgement(program, cases, time_limit_seconds, progress, at_hand, extent).reach();
}

}  // namespace validate
