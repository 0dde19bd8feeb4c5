#include "explain/explain_case.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <future>

#include <lab/exit_codes.h>
#include <lab/problem.h>

#include "explain/diagnosis.h"
#include "judge/cases.h"
#include "judge/compare.h"
#include "reference/reference.h"
#include "run/record.h"
#include "run/text.h"
#include "source/source_code.h"

namespace validate {
namespace {

/// Finds, by runs of fewer iterations, the first one after which the field is wrong: it is right
/// before them all and wrong after `run.iterations`. Sets `field` to what is wrong then: one wrong
/// column soon makes its neighbours wrong. Returns 0 where the runs do not say.
int first_wrong_iteration(const Case& run, const Patient& patient, FieldComparison* field) {
  int low = 0, high = run.iterations;
  // Most mistakes show at once. Where right and wrong iterations take turns, halves would miss the
  // first.
  const int each = run.n <= kMaxDiagnosedN ? 3 : 1;
  for (int middle = 1; high - low > 1; middle = low < each ? low + 1 : low + (high - low) / 2) {
    Case shorter = run;
    shorter.iterations = middle;
    const auto seen = patient.ask(shorter);
    if (!seen) return 0;
    const FieldComparison compared = compare_with_right(run, middle, seen->field);
    if (compared.kind == FieldComparison::kWrong) {
      high = middle;
      *field = compared;
    } else {
      low = middle;
    }
  }
  return high;
}

/// Whether the program is wrong in another case, too, and how.
bool find_wrong(const Case& run, const Patient& patient, Wrong* wrong) {
  const auto seen = patient.ask(run);
  if (!seen) return false;
  const std::vector<double> expected = expected_of(run, run.iterations).residuals;
  *wrong = {run, seen->iterations};
  wrong->residual =
      compare_residuals(expected, seen->residuals, run.n).kind == ResidualComparison::kWrong;
  Case made = run;
  made.iterations = seen->iterations;
  wrong->field = wrong_cells(made, seen->field).count() > 0;
  if (wrong->field) {
    FieldComparison ignored;
    wrong->first_iteration = first_wrong_iteration(made, patient, &ignored);
  }
  return wrong->field || wrong->residual || wrong->made < run.iterations;
}

/// Of a job of several ranks: whether a single one is right. Then the mistake is in what they
/// share.
bool right_with_one_rank(Case run, const Patient& patient_of_one) {
  run.ranks = 1;
  Wrong wrong;
  return patient_of_one.ask(run) && !find_wrong(run, patient_of_one, &wrong);
}

/// The cause where every sweep by itself is right, and several of them as one pass are not.
Diagnosis explain_pass(const Wrong& wrong, const Patient& patient) {
  Case better = wrong.run;
  better.problem = lab::ProblemKind::kProbe;
  better.n = std::clamp(better.n, 250, kMaxDiagnosedN);  // with room for more than one strip
  better.iterations = std::max(better.iterations, kUnevenIterations);
  Wrong other;
  if (wrong.field && find_wrong(better, patient, &other) && other.first_iteration > 0) {
    Diagnosis diagnosis = diagnose(other, patient, Subject::kPass);
    // Which lines are wrong depends on n.
    const bool says_lines = diagnosis.answer.has("lines");
    if (says_lines && better.n != wrong.run.n) diagnosis.seen_in = describe(better);
    return diagnosis;
  }
  return diagnose(wrong, patient, Subject::kPass);
}

/// The cause if nothing is wrong up to n = `right_up_to`.
Diagnosis only_beyond(int right_up_to, const Case& run, const Patient& patient,
                      bool hangs = false) {
  Answer answer("wrong_only_at_a_large_n");
  return say(answer.with("right", right_up_to).with("hangs", hangs), run, patient);
}

/// The cause. It is looked for where it shows best: on the probe, in which no two points are alike
/// (on `laplace` most points stay 0, and many causes look the same), and on a grid that is neither
/// tiny nor large.
Diagnosis explain(const Wrong& wrong, const Patient& patient) {
  const Case& run = wrong.run;
  if (patient.step >= kFirstSparseStep && run.check_every != 1) {
    Case each = run;
    each.check_every = 1;
    Wrong other;
    if (find_wrong(each, patient, &other)) {
      // A field that is wrong then says nothing of a residual whose field is right.
      if (!wrong.field && other.field) {
        const Diagnosis sum = diagnose(wrong, patient, Subject::kPassSum);
        if (sum.known()) return sum;
      }
      Diagnosis diagnosis = explain(other, patient);
      if (!diagnosis.known()) return diagnose(wrong, patient, Subject::kPassSum);
      // What is told of the run at hand may look otherwise.
      const bool alike = wrong.field && other.field && wrong.residual == other.residual;
      if (!alike && diagnosis.seen_in.empty()) diagnosis.seen_in = describe(each);
      return diagnosis;
    }
    if (patient.ask(each)) {  // an exercise that is not done yet has no such option
      return explain_pass(wrong, patient);
    }
  }
  Case better = {lab::ProblemKind::kProbe, run.n, usual_iterations(lab::ProblemKind::kProbe, 100),
                 run.check_every};
  better.ranks = run.ranks;
  if (run.n > kMaxDiagnosedN || run.n < kMinDiagnosedN) {
    // As many points behind the last whole block of 32 as there.
    better.n = 224 + run.n % 32;
  } else if (run.problem == lab::ProblemKind::kProbe) {
    const Diagnosis diagnosis = diagnose(wrong, patient);
    return diagnosis.known() ? diagnosis : diagnose(wrong, patient, Subject::kPassSum);
  }
  Wrong other;
  std::vector<int> smaller = {better.n};
  // What a last block takes may be nothing at all for a multiple of its shape.
  if (run.n > kMaxDiagnosedN) smaller.insert(smaller.end(), {kMultipleN, kLargeMultipleN});
  for (const int n : smaller) {
    better.n = n;
    if (!find_wrong(better, patient, &other)) continue;
    Diagnosis diagnosis = diagnose(other, patient);
    diagnosis.seen_in = describe(better);
    return diagnosis;
  }
  return run.n <= kMaxDiagnosedN ? diagnose(wrong, patient)
                                 : only_beyond(smaller.back(), run, patient);
}

/// The grid on which every access is looked at: that takes its time. And the one for threads that
/// do far more than they should.
constexpr int kWatchedN = 100, kFewestN = 40;

/// Seconds for such a look.
constexpr double kLookSeconds = 20;

/// After so many seconds, or so much CPU time, the first run is suspected never to end, and a look
/// at it as well. On the CPU either takes a fraction of it, and a learner waits for the verdict.
const TimeLimit kSuspect = {4, 0.3};
/// And one iteration on a small grid, which tells how long the first run may take.
const TimeLimit kSmallSuspect = {4, 1};
/// Seconds for a GPU's start and the first run. CPU time tells nothing there: the start alone takes
/// more than kSuspect, and the more GPUs a machine has, the longer it takes.
constexpr double kGpuSeconds = 30;

/// Seconds for a look on the grid on which it was found. Of the largest usual one no sweep takes as
/// little; what is wrong before that shows.
constexpr double kOwnLookSeconds = 0.8;

/// Looks at every access of a short run of `watched`.
WatchedRun look_at(int n, int sweeps, const std::string& watched, const std::string& dir,
                   const TimeLimit& limit) {
  Case few_sweeps = {lab::ProblemKind::kProbe, n, sweeps};
  // Meanwhile also what may do no harm: a sum that begins anyhow, or points that two threads
  // compute. It counts if the other run finds nothing.
  Case strict = few_sweeps;
  strict.strict = true;
  std::atomic<bool> unwanted = false;
  std::future<Run> once_more = std::async(std::launch::async, [&] {
    return run_program(watched, strict, dir + "_strict", limit, &unwanted);
  });
  Run trial = run_program(watched, few_sweeps, dir, limit);
  unwanted = !trial.error.empty();
  Run also = once_more.get();
  if (unwanted) return WatchedRun{few_sweeps, std::move(trial)};
  return WatchedRun{strict, std::move(also.child.timed_out ? trial : also)};
}

void describe_finding(const Finding& finding, std::vector<std::string>* lines) {
  if (!finding.known()) return;
  // The program's own last words may have been the same.
  for (const std::string& line : *lines) {
    if (says(line, finding.report.words)) return;
  }
  lines->push_back("A look at every access finds:");
  lines->push_back("  " + finding.report.words);
}

/// A picture of where the field is wrong, for whom no words help.
std::vector<std::string> draw(const Wrong& wrong, const Patient& patient) {
  Case run = wrong.run;
  if (wrong.first_iteration > 0) run.iterations = wrong.first_iteration;
  const auto seen = run.n <= kMaxDiagnosedN ? patient.ask(run) : nullptr;
  if (!seen) return {};
  std::vector<std::string> lines = {
      "where it is wrong (# all points, + some), i to the right, j upwards:"};
  bool everywhere = true;
  for (const std::string& line : picture(wrong_cells(run, seen->field))) {
    lines.push_back("  " + line);
    everywhere &= !says(line, ".");
  }
  if (everywhere) lines.clear();
  return lines;
}

/// What ranks share, if one alone is right: whether it is rather that than what was found in the
/// fields of all of them. (What lies between two ranks lies between two warps, too.)
Diagnosis explain_ranks(const Wrong& what, const Patient& patient, Diagnosis diagnosis) {
  const bool left_out = diagnosis.answer.has("by_sweep") && !diagnosis.answer.has("both");
  const bool unclear =
      !diagnosis.known() || diagnosis.is_symptom() || diagnosis.answer.has("between_warps");
  // The last sweep's changes are right only if all that the ranks hold is.
  const bool of_result = diagnosis.rule() == "result_is_not_handed_over";
  if (!what.residual && (unclear || left_out || of_result)) {
    return say(Answer("ranks_hand_over_other_rows"), what.run, patient);
  }
  if (left_out) return diagnosis;
  Diagnosis borders = diagnose(what, patient, Subject::kBorders);
  if (!borders.known() || borders.is_finding()) return diagnosis;
  // A model of the halo knows more than how the wrong points lie.
  const bool of_a_warp =
      unclear || of_result ||
      (diagnosis.strength >= Strength::kShape && borders.rule() == "halo_holds_another_row");
  if (!of_a_warp) {
    if (borders.rule() != "own_rows_are_received") {
      diagnosis.look_at.insert(diagnosis.look_at.begin(), borders.look_at[0]);
    }
    return diagnosis;
  }
  if (!diagnosis.lead.empty()) {
    borders.lead = "with --check-every 1 all is right";
    borders.cause = "In longer passes " + borders.cause;
  }
  return borders;
}

/// The cause, by all that is at hand. Of a job of several ranks of which one `alone` is right, says
/// that first, in `lines`.
Diagnosis explain_all(const Wrong& what, const Patient& patient, const Patient& alone,
                      std::vector<std::string>* lines) {
  const bool right_alone = what.run.ranks > 1 && right_with_one_rank(what.run, alone);
  Diagnosis diagnosis = explain(what, patient);
  if (!diagnosis.known()) diagnosis = diagnose({}, patient, Subject::kAccess);
  if (!right_alone) return diagnosis;
  if (what.field && !diagnosis.is_finding()) diagnosis = explain_ranks(what, patient, diagnosis);
  if (diagnosis.rule() == "ranks_hand_over_other_rows") return diagnosis;
  lines->push_back(std::string("with one rank it is right") +
                   (diagnosis.rule() == "race_or_something_unset" ? ""
                    : !what.field
                        ? ". Look at the sum over all ranks, and at which rows of a rank are in it"
                    : diagnosis.known()
                        ? ""
                        : ". Look at what the ranks exchange before a pass (which rows, and how "
                          "many), and at the rows that a rank computes and those that it holds"));
  return diagnosis;
}

/// Whether it crashed, hung, or a CUDA call failed: then it names no line that is to blame, or that
/// of the call alone.
bool failed_without_a_place(const Run& trial) {
  const ChildResult& child = trial.child;
  return child.timed_out || child.signal != 0 ||
         (child.exit_code == lab::kExitCudaError &&
          (trial.report.has("call") || trial.report.kind == "padding"));
}

/// Looks at every access of a short run, on a grid large enough for what is wrong in `run`: strips
/// that overlap need more than one of them.
WatchedRun look_for_cause(const Check& check, const Case& run,
                          const TimeLimit& limit = kLookSeconds) {
  constexpr int kMostN = 250;
  check.progress("looking for the cause");
  const TimeLimit time = {std::min(check.time_limit, limit.seconds), limit.cpu_seconds};
  const std::string& watched = check.at_hand.watched;
  WatchedRun look = look_at(run.n > kWatchedN ? kMostN : kWatchedN, 3, watched, check.dir, time);
  const bool once_more = look.trial.child.timed_out && time.seconds >= kLookSeconds;
  return once_more ? look_at(kFewestN, 1, watched, check.dir, time) : look;
}

/// If that look found nothing: the same on the grid of `run`, unless it is too large.
WatchedRun look_once_more(const Check& check, const Case& run, WatchedRun look) {
  const bool may_show_more = run.n != look.run.n && run.n <= kLargestUsualN && run.ranks <= 1;
  if (!look.trial.error.empty() || !may_show_more) return look;
  WatchedRun own = look_at(run.n, 1, check.at_hand.watched, check.dir, kOwnLookSeconds);
  return own.trial.child.timed_out ? look : own;
}

/// Notes what a look found.
void keep_look(const WatchedRun& look, Patient* patient) {
  patient->finding = {look.trial.report, look.run.n};
  patient->watched = true;
}

/// What a look found of a program that ends. One that takes too long says where it is, but that is
/// no endless loop.
void add_look(const WatchedRun& look, Patient* patient) {
  if (!look.trial.child.timed_out) keep_look(look, patient);
}

/// Whether a look that took too long met far more work than the points need. Such a program ends,
/// but only after minutes.
bool says_why_it_is_slow(const Check& check, const WatchedRun& look) {
  Patient patient = patient_of(check, "", look.run);
  keep_look(look, &patient);
  const Diagnosis found = diagnose({}, patient, Subject::kAccess);
  return found.answer.has("threads") || found.answer.has("all_points");
}

/// Another order of threads than the job's. A GPU decides itself; if the CPU runs the kernels in
/// its place, it does as told.
const char* other_order(const Case& job) {
  const char* order = job.order ? job.order : std::getenv("LAB_CPU_ORDER");
  return order && std::strcmp(order, "reverse") == 0 ? "forward" : "reverse";
}

/// Of a program whose strips have ends: whether they are narrower than a pass has sweeps.
bool has_a_narrow_halo(const std::string& source) {
  const long halo = constant_in(source, "kHalo");
  return halo > 0 && halo < constant_in(source, "kLevels");
}

}  // namespace

Patient patient_of(const Check& check, const std::string& step, const Case& job) {
  Patient patient;
  patient.source = check.at_hand.source;
  patient.names = names_in(patient.source);
  // A run that failed left no record to say it.
  patient.step = step_in(step.empty() ? patient.source : "// " + step);
  patient.run = [&check, job](Case run, bool again, Observation* seen) {
    run.ranks = job.ranks;
    if (!run.halos) run.halos = job.halos;
    run.order = again ? other_order(job) : job.order;
    const std::string dir = check.folder + "/question";
    if (check.decided && *check.decided) return false;
    const Run trial = run_program(check.program, run, dir, check.time_limit, check.decided);
    if (!trial.error.empty()) return false;
    static_cast<Record&>(*seen) = trial.record;
    std::string ignored;
    return read_field(dir, run.n, &seen->field, &ignored);
  };
  return patient;
}

Explanation too_few_to_be_rounding(Case run, const FieldComparison& compared,
                                   const Patient& patient) {
  const double points = static_cast<double>(run.n) * run.n;
  if (compared.different > 0.1 * points || run.n > kMaxDiagnosedN) return {};
  run.check_every = 1;
  const auto seen = patient.ask(run);
  if (!seen || seen->iterations != run.iterations) return {};
  const FieldComparison each = compare_with_right(run, run.iterations, seen->field);
  if (each.kind != FieldComparison::kIdentical) return {};
  if (has_a_narrow_halo(patient.source)) {
    Diagnosis strips = say(Answer("strips_keep_too_many_columns")
                               .with("lines", format("%zu points differ, by up to %.2g, and are",
                                                     compared.different, compared.max_difference)),
                           run, patient);
    strips.lead = "with --check-every 1 every bit is right";
    return {strips.lines(), strips.rule()};
  }
  return {
      {format("diagnosis: with --check-every 1 every bit is right. In a pass of several sweeps "
              "%zu points differ by up to %.2g, all in the rows j = %d..%d: too few for another "
              "order of additions",
              compared.different, compared.max_difference, compared.first_row, compared.last_row),
       "look at: which boundary may be near: if only the halo of a strip, or of a warp's rows, "
       "contains it, its points keep their values there as well"}};
}

Trial try_first(const Check& check, const Case& run, const std::atomic<bool>* unwanted,
                std::optional<WatchedRun>* look) {
  const bool may_look =
      !check.at_hand.watched.empty() && run.ranks <= 1 && check.time_limit > kSuspect.seconds;
  const TimeLimit suspect = check.at_hand.gpu ? TimeLimit(kSuspect.seconds) : kSuspect;
  const Trial trial =
      try_case(check.program, run, check.dir, may_look ? suspect : check.time_limit, unwanted);
  if (!may_look || !trial.run.child.timed_out) return trial;
  *look = look_for_cause(check, run, kSuspect);
  TimeLimit limit = check.time_limit;
  if ((*look)->trial.child.timed_out) {
    if (says_why_it_is_slow(check, **look)) return trial;
    if (check.at_hand.gpu) {
      limit.seconds = std::min(limit.seconds, kGpuSeconds);
    } else {
      // It gets as much time as one iteration on a small grid lets expect; a loop that never ends
      // takes longer than that.
      const Case one_iteration = {lab::ProblemKind::kProbe, kFewestN, 1};
      const ChildResult small =
          run_program(check.program, one_iteration, check.dir, kSmallSuspect).child;
      limit.cpu_seconds =
          small.cpu_seconds * run.iterations * run.n * run.n / (kFewestN * kFewestN);
      if (small.timed_out || limit.cpu_seconds < kSuspect.cpu_seconds) return trial;
    }
  }
  check.progress(describe(run));
  return try_case(check.program, run, check.dir, limit, unwanted);
}

Explanation explain_failure(const Check& check, const Case& run, const Run& trial,
                            std::optional<WatchedRun> look, Patient* patient) {
  if (!check.at_hand.watched.empty() && failed_without_a_place(trial)) {
    look = look_once_more(check, run, look ? *look : look_for_cause(check, run));
    keep_look(*look, patient);
  }
  Diagnosis diagnosis =
      diagnose_failure(run, trial.record.iterations, trial.error, *patient, trial.report);
  // All smaller grids are tried before.
  if (run.n == kBeyondN) {
    diagnosis = only_beyond(kLargestUsualN, run, *patient, trial.child.timed_out);
  }
  std::vector<std::string> lines = diagnosis.lines();
  lines.push_back(trial.error);
  // Of a launch that is far too large that says less than the diagnosis.
  if (!diagnosis.answer.has("threads")) describe_finding(patient->finding, &lines);
  return {lines, diagnosis.rule()};
}

Explanation explain_wrong(const Check& check, const Case& run, Trial* trial, Patient* patient) {
  std::vector<std::string> lines;
  const Record& record = trial->run.record;
  Case made = run;
  made.iterations = record.iterations;
  const bool stopped_early = made.iterations < run.iterations;
  Wrong what{run, made.iterations};
  what.field = trial->field.kind == FieldComparison::kWrong;
  what.residual = trial->residuals.kind == ResidualComparison::kWrong;
  what.no_number = std::any_of(record.residuals.begin(), record.residuals.end(),
                               [](const auto& r) { return std::isnan(r.value); });
  if (what.field) {
    check.progress("looking for the first wrong iteration");
    what.first_iteration = first_wrong_iteration(made, *patient, &trial->field);
  }
  std::optional<WatchedRun> look;
  if (check.at_hand.watched.empty()) {
    check.progress("looking for the cause");
  } else {
    look = look_for_cause(check, run);
    add_look(*look, patient);
  }
  Case job;
  job.ranks = 1;
  const Patient alone = patient_of(check, record.step, job);
  Diagnosis diagnosis = explain_all(what, *patient, alone, &lines);
  if (look && (!diagnosis.known() || diagnosis.is_symptom() || diagnosis.rule() == "race")) {
    add_look(look_once_more(check, run, *look), patient);
    if (patient->finding.known()) diagnosis = explain_all(what, *patient, alone, &lines);
  }
  auto add = [&lines](const std::vector<std::string>& more) {
    lines.insert(lines.end(), more.begin(), more.end());
  };
  add(diagnosis.lines());
  if (stopped_early) {
    lines.push_back(
        format("it stopped after %d of %d iterations", made.iterations, run.iterations));
  }
  if (what.field) {
    describe_field(trial->field, made, what.first_iteration, &lines);
    // Or a picture says better than the words where it is wrong.
    if (!diagnosis.known() || diagnosis.answer.has("draw")) add(draw(what, *patient));
  } else if (!stopped_early || run.n < kHashedRecordN) {
    lines.push_back("the field is right");
  }
  if (what.residual) {
    describe_residual(trial->residuals, &lines);
  } else {
    lines.push_back("the residual is right");
  }
  describe_finding(patient->finding, &lines);
  return {lines, diagnosis.rule()};
}

}  // namespace validate
