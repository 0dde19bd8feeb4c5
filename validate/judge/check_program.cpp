#include "judge/check_program.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <lab/problem.h>

#include "explain/diagnosis.h"
#include "judge/compare.h"
#include "judge/reference.h"
#include "judge/trials.h"
#include "run/record.h"
#include "run/temporary_folder.h"
#include "run/text.h"
#include "source/source_code.h"

namespace validate {
namespace {

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
    lines->push_back(std::fabs(times - 1) < 1e-4
                         ? format("  that is off by %.2g of the right one", std::fabs(times - 1))
                         : format("  that is %.6g times the right one", times));
  }
}

void describe_field(const FieldComparison& field, const Case& run, int first_iteration,
                    std::vector<std::string>* lines) {
  const std::size_t points = static_cast<std::size_t>(run.n) * run.n;
  if (first_iteration > 0) {
    lines->push_back(
        format("the field is wrong from iteration %d on; after that one", first_iteration));
  } else {
    lines->push_back(format("the field is wrong; after iteration %d", run.iterations));
  }
  std::string how = format("  %zu of %zu points are wrong", field.wrong, points);
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
    lines->push_back(format("  %6d %6d %13.6g %13.6g", cell.i, cell.j, cell.expected, cell.found));
  }
}

constexpr const char* kRace =
    "two runs of it give different fields: a race (is a barrier missing, or misplaced?)";

/// The number of a step, of whose name it is the beginning; 0 where it is none.
int number_of(const std::string& step) {
  return step.size() > 2 && step[2] == '_' ? std::atoi(step.c_str()) : 0;
}

/// The program as one to ask questions.
class Questions {
 public:
  Questions(const std::string& program, const std::string& folder, double time_limit)
      : program_(program), dir_(folder + "/question"), time_limit_(time_limit) {}

  /// `step`: the name that a record of the program says. It is asked as the same job as `job`.
  Patient patient(const std::string& step, const std::string& source, const Case& job) {
    job_ = job;
    Patient patient;
    patient.source = source;
    patient.names = names_in(source);
    // A run that failed left no record to say it.
    patient.step = step.empty() ? step_in(source) : number_of(step);
    patient.run = [this](const Case& run, Observation* seen) { return ask_once(run, seen); };
    patient.run_again = [this](const Case& run, Observation* seen) {
      // A GPU decides itself; if the CPU runs the kernels in its place, it does as told.
      Case other = run;
      const char* order = job_.order ? job_.order : std::getenv("LAB_CPU_ORDER");
      other.order = order && std::strcmp(order, "reverse") == 0 ? "forward" : "reverse";
      return ask(other, seen);
    };
    return patient;
  }

 private:
  /// What was asked before is not asked again: on a GPU each run takes half a second to begin.
  bool ask_once(const Case& run, Observation* seen) {
    if (run.n > kMaxDiagnosedN) return ask(run, seen);  // too much to remember
    const auto key = std::make_tuple(
        static_cast<int>(run.problem), run.n, run.iterations, run.check_every, job_.ranks,
        std::string(job_.halos ? job_.halos : ""), std::string(job_.order ? job_.order : ""));
    const auto [at, is_new] = answers_.try_emplace(key);
    if (is_new) at->second.first = ask(run, &at->second.second);
    *seen = at->second.second;
    return at->second.first;
  }

  bool ask(Case run, Observation* seen) const {
    run.ranks = job_.ranks;
    run.halos = job_.halos;
    if (!run.order) run.order = job_.order;
    const Run trial = run_program(program_, run, false, dir_, time_limit_);
    if (!trial.error.empty()) return false;
    seen->iterations = trial.record.iterations;
    seen->residuals = trial.record.residuals;
    seen->field = read_field(dir_, run.n);
    return !seen->field.empty();
  }

  const std::string program_, dir_;
  const double time_limit_;
  Case job_{};
  std::map<std::tuple<int, int, int, int, int, std::string, std::string>,
           std::pair<bool, Observation>>
      answers_;
};

/// Finds, by runs of fewer iterations, the first one after which the field is wrong: it is right
/// before them all and wrong after `run.iterations`. Sets `field` to what is wrong then: one wrong
/// column soon makes its neighbours wrong. Returns 0 where the runs do not say.
int first_wrong_iteration(const Case& run, const Patient& patient, FieldComparison* field) {
  int low = 0, high = run.iterations;
  // Most mistakes show at once.
  for (int middle = 1; high - low > 1; middle = low + (high - low) / 2) {
    Case shorter = run;
    shorter.iterations = middle;
    Observation seen;
    if (!patient.run(shorter, &seen)) return 0;
    Reference reference(lab::Problem(run.problem, run.n, 1));
    sweep_reference(&reference, middle);
    std::size_t next = 0;
    const FieldComparison compared = compare_field(reference, middle, [&]() {
      next += run.n;
      return &seen.field[next - run.n];
    });
    if (compared.kind == FieldComparison::kWrong) {
      high = middle;
      *field = compared;
    } else {
      low = middle;
    }
  }
  return high;
}

/// The grid on which every access is looked at: that takes its time.
constexpr int kWatchedN = 100;
/// The first step that computes a residual every so many sweeps only.
constexpr int kFirstSparseStep = 11;
/// The largest grid of no special size that every step is tried on.
constexpr int kLargestUsualN = 1043;
/// Multiples of every block's shape in use: a last block that is not full has nothing to do there.
constexpr int kMultipleN = 256, kLargeMultipleN = 1024;
/// Beyond 2048, where 4096 blocks of 32 x 32 no longer suffice; a multiple of 1024, too.
constexpr int kBeyondN = 3072;
/// The first step whose sweeps are fast enough for that size on the CPU.
constexpr int kFirstFastStep = 8;
/// The first step whose passes have several sweeps, or whose rows of a warp have their own rhythm.
constexpr int kFirstPassStep = 12;
constexpr int kPassIterations = 13;
/// Enough for sizes that are tried for their own sake.
constexpr int kFewIterations = 4;
/// Between a halo and two of steps 14 and 15, whose passes have 12 sweeps.
constexpr int kFewRowsARank = 21;
/// No --check-every that is tried divides it.
constexpr int kUnevenIterations = 37;
/// Strips of 128 columns, and those of which 104 are stored, leave a narrow last one of it.
constexpr int kNarrowStripN = 521;

/// What a step that takes --check-every is judged by beside `cases`: the default, 1 and 7, with so
/// many iterations that the last ones fill no pass. After an odd 7 two fields that change roles
/// have each other's.
std::vector<Case> cases_of_checks(const std::vector<Case>& cases) {
  constexpr int kMaxN = 250;  // such mistakes show on small grids, too
  std::vector<Case> more;
  std::set<std::pair<int, int>> tried;
  for (Case run : cases) {
    if (run.n > kMaxN) {
      // Beside a boundary whose columns a strip's halo holds, and not the strip itself.
      if (run.n != kLargestUsualN || !tried.insert({kNarrowStripN, 0}).second) continue;
      run.n = kNarrowStripN;
      run.iterations = kUnevenIterations;
      more.push_back(run);
      continue;
    }
    if (run.iterations == kFewIterations || !tried.insert({run.n, run.ranks}).second) continue;
    const bool as_usual = run.iterations == usual_iterations(run.problem, run.n);
    if (as_usual) run.iterations = kUnevenIterations;
    for (int check_every : {0, 1, 7}) {
      // A job of ranks takes a while to start: all of them at one size.
      if (run.ranks > 0 && as_usual && check_every > 0 && run.n != cases[0].n) continue;
      run.check_every = check_every;
      if (check_every > 0 || as_usual) more.push_back(run);
    }
  }
  return more;
}

/// Whether the program is wrong in another case, too, and how.
bool find_wrong(const Case& run, const Patient& patient, Wrong* wrong) {
  Observation seen;
  if (!patient.run(run, &seen)) return false;
  Reference reference(lab::Problem(run.problem, run.n, 1));
  const std::vector<double> expected = sweep_reference(&reference, run.iterations);
  *wrong = Wrong();
  wrong->run = run;
  wrong->made = seen.iterations;
  wrong->residual =
      compare_residuals(expected, seen.residuals, run.n).kind == ResidualComparison::kWrong;
  Case made = run;
  made.iterations = seen.iterations;
  wrong->field = made.iterations > 0 && wrong_cells(made, seen.field).count() > 0;
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
  Observation seen;
  Wrong wrong;
  return patient_of_one.run(run, &seen) && !find_wrong(run, patient_of_one, &wrong);
}

/// The cause where every sweep by itself is right, and several of them as one pass are not.
Diagnosis explain_pass(const Wrong& wrong, const Patient& patient) {
  Case better = wrong.run;
  better.problem = lab::ProblemKind::kProbe;
  better.n = std::clamp(better.n, 250, kMaxDiagnosedN);  // with room for more than one strip
  better.iterations = std::max(better.iterations, kUnevenIterations);
  Wrong other;
  if (wrong.field && find_wrong(better, patient, &other) && other.first_iteration > 0) {
    return diagnose_sweeps_of_a_pass(other, patient);
  }
  return diagnose_sweeps_of_a_pass(wrong, patient);
}

/// Another order of additions shows wherever values are not 0, with each sweep by itself as well.
/// In words what is wrong where only a few points differ, and none with --check-every 1; else "".
std::string too_few_to_be_rounding(Case run, const FieldComparison& compared,
                                   const Patient& patient) {
  const double points = static_cast<double>(run.n) * run.n;
  if (compared.different > 0.1 * points || run.n > kMaxDiagnosedN) return "";
  run.check_every = 1;
  Observation seen;
  if (!patient.run(run, &seen) || seen.iterations != run.iterations) return "";
  Reference reference(lab::Problem(run.problem, run.n, 1));
  sweep_reference(&reference, run.iterations);
  int row = 0;
  const FieldComparison each = compare_field(reference, run.iterations, [&] {
    return &seen.field[static_cast<std::size_t>(run.n) * row++];
  });
  if (each.kind != FieldComparison::kIdentical) return "";
  return format(
      "with --check-every 1 every bit is right. In a pass of several sweeps %zu points "
      "differ by up to %.2g, all in the rows j = %d..%d: too few for another order of "
      "additions",
      compared.different, compared.max_difference, compared.first_row, compared.last_row);
}

/// Behind a cause that shows in another run than the one that is told of.
const std::string kSeenIn = " (as seen in: ";

/// The cause where nothing is wrong up to n = `right_up_to`.
Diagnosis only_beyond(int right_up_to, int n) {
  return {format("up to n = %d it is right, and wrong at n = %d", right_up_to, n),
          {"what has a fixed size, or one that does not grow with n as it should: a buffer of "
           "partial sums, the number of blocks, a number of points kept in an int"}};
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
    Observation seen;
    if (find_wrong(each, patient, &other)) {
      // A field that is right with each sweep by itself says nothing of the one at hand.
      if (wrong.field && !other.field) {
        Diagnosis pass = explain_pass(wrong, patient);
        pass.lead = "with --check-every 1 the field is right";
        if (!pass.general) return pass;
      }
      // Nor does a field that is wrong then of a residual that is wrong while the field is right.
      if (!wrong.field && other.field) {
        const Diagnosis sum = diagnose_pass_residual(wrong, patient);
        if (sum.known()) return sum;
      }
      Diagnosis diagnosis = explain(other, patient);
      if (!diagnosis.known()) return diagnose_pass_residual(wrong, patient);
      // What is told of the run at hand may look otherwise.
      const bool both = wrong.field && other.field;
      if (!both && diagnosis.cause.find(kSeenIn) == std::string::npos) {
        diagnosis.cause += kSeenIn + describe(each) + ")";
      }
      return diagnosis;
    }
    if (patient.run(each, &seen)) {  // an exercise that is not done yet has no such option
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
    return diagnosis.known() ? diagnosis : diagnose_pass_residual(wrong, patient);
  }
  Wrong other;
  std::vector<int> smaller = {better.n};
  // What a last block takes may be nothing at all for a multiple of its shape.
  if (run.n > kMaxDiagnosedN) smaller.insert(smaller.end(), {kMultipleN, kLargeMultipleN});
  for (const int n : smaller) {
    better.n = n;
    if (!find_wrong(better, patient, &other)) continue;
    Diagnosis diagnosis = diagnose(other, patient);
    if (diagnosis.known()) diagnosis.cause += kSeenIn + describe(better) + ")";
    return diagnosis;
  }
  return run.n <= kMaxDiagnosedN ? diagnose(wrong, patient) : only_beyond(smaller.back(), run.n);
}

/// After so many seconds a run is suspected never to end; on the CPU the first one takes less than
/// one.
constexpr double kSuspectSeconds = 20;

/// A short run in which every access is looked at, and how it went.
struct Look {
  Case run;
  Run trial;
};

/// Looks at every access of a short run of `watched`: on a grid large enough for what is wrong in
/// `run`, as strips that overlap need more than one of them; and where nothing is found on it, on
/// one of the run's own n, if that is small enough.
Look look_at_every_access(const Case& run, const std::string& watched, const std::string& dir,
                          double time_limit) {
  constexpr int kMostN = 250;
  auto look_at = [&](int n) {
    Case few_sweeps = {lab::ProblemKind::kProbe, n, 3};
    const double seconds = std::min(time_limit, kSuspectSeconds);
    Run trial = run_program(watched, few_sweeps, false, dir, seconds);
    if (trial.error.empty()) {
      // Now also what may do no harm: a sum that begins anyhow, or points that two threads compute.
      few_sweeps.strict = true;
      Run once_more = run_program(watched, few_sweeps, false, dir, seconds);
      if (!once_more.child.timed_out) trial = std::move(once_more);
    }
    return Look{few_sweeps, std::move(trial)};
  };
  Look look = look_at(run.n > kWatchedN ? kMostN : kWatchedN);
  const bool may_show_more = run.n != look.run.n && run.n <= kLargestUsualN && run.ranks <= 1;
  if (!look.trial.error.empty() || !may_show_more) return look;
  Look own = look_at(run.n);
  return own.trial.child.timed_out ? look : own;
}

void describe_finding(const Finding& finding, std::vector<std::string>* lines) {
  if (!finding.known()) return;
  // The program's own last words may have been the same.
  for (const std::string& line : *lines) {
    if (line.find(finding.words) != std::string::npos) return;
  }
  lines->push_back("A look at every access finds:");
  lines->push_back("  " + finding.words);
}

/// A picture of where the field is wrong, for whom no words help.
std::vector<std::string> draw(const Wrong& wrong, const Patient& patient) {
  Case run = wrong.run;
  if (wrong.first_iteration > 0) run.iterations = wrong.first_iteration;
  Observation seen;
  if (run.n > kMaxDiagnosedN || !patient.run(run, &seen)) return {};
  std::vector<std::string> lines = {
      "where it is wrong (# all points, + some), i to the right, j upwards:"};
  bool everywhere = true;
  for (const std::string& line : picture(wrong_cells(run, seen.field))) {
    lines.push_back("  " + line);
    everywhere &= line.find('.') == std::string::npos;
  }
  if (everywhere) lines.clear();
  return lines;
}

/// Whether what a single access does wrong says more than how field and residuals look.
bool comes_first(const Finding& finding, const Wrong& what, const Diagnosis& by_looks) {
  if (!by_looks.known() || by_looks.symptom) return true;
  switch (finding.kind) {
    case Finding::kNone:
      return false;
    case Finding::kRace:  // it may do no harm, or harm that looks like something else
      return by_looks.draw;
    case Finding::kUnwritten:  // of a tile, what is missing has a look of its own
      return by_looks.draw || (finding.shared && !what.field);
    case Finding::kOutOfBounds:  // bounds that are off by one have a look of their own
      return by_looks.draw || !what.field;
    default:  // what no program may do, and what follows from it is a matter of luck
      return true;
  }
}

/// The cause, by all that is at hand. Of a job of several ranks of which one `alone` is right, says
/// that first, in `lines`. `look_n`: the grid on which every access was looked at.
Diagnosis explain_all(const Wrong& what, const Patient& patient, const Patient& alone, int look_n,
                      std::vector<std::string>* lines) {
  const bool right_alone = what.run.ranks > 1 && right_with_one_rank(what.run, alone);
  Diagnosis diagnosis = explain(what, patient);
  // The last sweep's changes are right only where all that the ranks hold is.
  const auto says = [&](const char* words) {
    return diagnosis.cause.find(words) != std::string::npos;
  };
  if (right_alone && what.field && !what.residual &&
      (!diagnosis.known() || says("warp") || says("the sweep leaves out"))) {
    return {
        "with one rank it is right; with more the residual is right, too. So each rank sweeps "
        "its rows as it should, and hands over others as the result",
        {"what ranks.finish is given in main: row j of the field is row j - slab.held_begin of "
         "what the rank holds, which begins with the halo; and whether its rows are those that it "
         "computes, slab.begin to slab.end, without the halo"}};
  }
  if (right_alone) {
    lines->push_back(
        std::string("with one rank it is right. Look at ") +
        (what.field ? "what the ranks exchange before a pass (which rows, and how many), and at "
                      "the rows that a rank computes and those that it holds"
                    : "the sum over all ranks, and at which rows of a rank are in it"));
  }
  // What lies between two ranks lies between two warps, too.
  if (right_alone && what.field && !says("the sweep leaves out")) {
    const bool of_a_warp =
        !diagnosis.known() || says("warp") || says(" hold what belongs to point");
    Diagnosis borders = diagnose_borders(what, patient);
    if (borders.known() && !of_a_warp && !diagnosis.symptom) {
      diagnosis.look_at.insert(diagnosis.look_at.begin(), borders.look_at[0]);
    }
    if (borders.known() && !diagnosis.lead.empty()) {
      borders.lead = "with --check-every 1 all is right";
      borders.cause = "In longer passes " + borders.cause;
    }
    if (borders.known() && of_a_warp) diagnosis = borders;
  }
  const Diagnosis found = diagnose_finding(patient.finding, look_n, patient);
  return found.known() && comes_first(patient.finding, what, diagnosis) ? found : diagnosis;
}

/// Whether two more runs of the program give fields of different bits.
bool two_runs_differ(const Case& run, const Patient& patient) {
  Observation one, other;
  return patient.run(run, &one) && patient.run_again(run, &other) &&
         std::memcmp(one.field.data(), other.field.data(), one.field.size() * sizeof(float)) != 0;
}

/// What to look at where a run to a tolerance stopped after another iteration than the first that
/// meets it.
std::string why_it_stopped(const std::vector<double>& expected, double tolerance, int made,
                           int meets) {
  auto first_to_meet = [&](auto compared) {
    std::size_t k = 0;
    while (k < expected.size() && compared(expected[k]) > tolerance) ++k;
    return static_cast<int>(k) + 1;
  };
  const std::string condition = "Look at the loop's condition: it compares ";
  if (made == first_to_meet([](double r) { return r * r; })) {
    return condition +
           "the residual's square (the root is missing there), and right is the residual itself.";
  }
  if (made == first_to_meet([](double r) { return std::sqrt(r); })) {
    return condition + "the root of the residual, and right is the residual itself.";
  }
  return made < meets ? "Look at the loop's condition, and what the residual is before it."
                      : "Look at the loop's condition: is it this sweep's residual?";
}

/// A run to a tolerance: whether the program stops where its residual first meets it. (Known is
/// that runs of so many iterations are right.) Returns what is wrong, or nothing.
std::vector<std::string> check_stopping(const Run& trial, const Case& run,
                                        const std::vector<double>& expected, int meets,
                                        bool sparse) {
  const int made = trial.record.iterations;
  std::vector<std::string> lines = {
      format("its residual meets --tolerance %.3g in iteration %d, and it should stop there",
             run.tolerance, meets)};
  if (!trial.error.empty() && run.ranks > 1) {
    return {
        "diagnosis: as long as no tolerance is asked for all is right: the ranks do not agree "
        "where to stop, and those that go on wait for the others",
        "look at: whether every rank gets the residual of all: each decides by itself whether "
        "to go on",
        trial.error};
  }
  if (!trial.error.empty() && made == 0) {
    lines[0] += trial.child.exit_code <= lab::kExitNotConverged ? "; it makes no sweep at all"
                                                                : "; " + trial.error;
    lines.push_back("  Look at what the residual is before the loop: larger than any tolerance?");
    return lines;
  }
  if (!trial.error.empty()) return {trial.error};
  if (made == run.iterations) {
    lines[0] += format("; it goes on to --max-iterations %d", made);
    lines.push_back(
        "  Look at the loop's condition: it ends where residual > options.tolerance does not "
        "hold.");
    return lines;
  }
  // A step that computes few residuals stops at one of the next checks.
  if (made < meets || (!sparse && made > meets)) {
    lines[0] += format("; it stops after %d", made);
    lines.push_back("  " + why_it_stopped(expected, run.tolerance, made, meets));
    return lines;
  }
  if (compare_residuals(expected, trial.record.residuals, run.n).kind ==
      ResidualComparison::kWrong) {
    return {"its residuals are not those of the same run without --tolerance"};
  }
  return {};
}

/// What all runs of a check have in common.
struct Check {
  const std::string& program;
  const std::string folder;  ///< for what is temporary
  const double time_limit;   ///< seconds, of a run
  const Progress& progress;
  const AtHand& at_hand;
  const std::string dir = folder + "/record";
};

/// Whether it crashed, hung, or a CUDA call failed: then it names no line that is to blame, or that
/// of the call alone.
bool failed_without_a_place(const Run& trial) {
  const ChildResult& child = trial.child;
  return child.timed_out || child.signal != 0 ||
         (child.exit_code == lab::kExitCudaError &&
          (trial.report.has("call") || trial.report.kind == "padding"));
}

/// Looks at every access of a short run.
Look look_for_cause(const Check& check, const Case& run) {
  check.progress("looking for the cause");
  return look_at_every_access(run, check.at_hand.watched, check.dir, check.time_limit);
}

/// The first run. If it is still going on after a time in which most programs have ended, a look at
/// a much shorter one tells whether it ever will: then it is slow, and gets all the time there is.
/// (Ranks that wait for one another say so themselves.)
Trial try_first(const Check& check, const Case& run, std::optional<Look>* look) {
  const bool may_look =
      !check.at_hand.watched.empty() && run.ranks <= 1 && check.time_limit > kSuspectSeconds;
  const Trial trial =
      try_case(check.program, run, check.dir, may_look ? kSuspectSeconds : check.time_limit);
  if (!may_look || !trial.run.child.timed_out) return trial;
  *look = look_for_cause(check, run);
  if ((*look)->trial.child.timed_out) return trial;
  check.progress(describe(run));
  return try_case(check.program, run, check.dir, check.time_limit);
}

/// Of a run that failed: why. A GPU does not say which line is to blame; the same program on the
/// CPU, with every access looked at, does. `look`: if somebody has looked already.
std::vector<std::string> explain_failure(const Check& check, const Case& run, const Run& trial,
                                         std::optional<Look> look, Patient* patient) {
  Diagnosis diagnosis =
      diagnose_failure(run, trial.record.iterations, trial.error, *patient, trial.report);
  if (!check.at_hand.watched.empty() && failed_without_a_place(trial)) {
    if (!look) look = look_for_cause(check, run);
    const Run& looked_at = look->trial;
    patient->finding = read_finding(looked_at.report);
    patient->watched = true;
    Diagnosis found = diagnose_finding(patient->finding, look->run.n, *patient);
    if (!found.known() && !patient->finding.known() && looked_at.child.signal != 0) {
      found = diagnose_failure(look->run, looked_at.record.iterations, looked_at.error, *patient,
                               looked_at.report);
    }
    // A GPU ends no program for a race, or for memory that nothing has written.
    const Finding::Kind kind = patient->finding.kind;
    const bool harmless = kind == Finding::kRace || kind == Finding::kUnwritten;
    if (found.known() && (!diagnosis.known() || diagnosis.symptom || !harmless)) diagnosis = found;
  }
  // All smaller grids are tried before.
  if (run.n == kBeyondN) diagnosis = only_beyond(kLargestUsualN, run.n);
  std::vector<std::string> lines = diagnosis.lines();
  lines.push_back(trial.error);
  describe_finding(patient->finding, &lines);
  return lines;
}

/// Of a run whose field or residuals are wrong, or that stopped early: the cause, as far as it can
/// be found, and what is wrong.
std::vector<std::string> explain_wrong(const Check& check, const Case& run, Trial* trial,
                                       Patient* patient) {
  std::vector<std::string> lines;
  Comparison* compared = &trial->compared;
  const Record& record = trial->run.record;
  Case made = run;
  made.iterations = record.iterations;
  const bool stopped_early = made.iterations < run.iterations;
  Wrong what;
  what.run = run;
  what.made = made.iterations;
  what.field = compared->field.kind == FieldComparison::kWrong;
  what.residual = compared->residuals.kind == ResidualComparison::kWrong;
  if (what.field) {
    check.progress("looking for the first wrong iteration");
    what.first_iteration = first_wrong_iteration(made, *patient, &compared->field);
  }
  int look_n = 0;
  if (check.at_hand.watched.empty()) {
    check.progress("looking for the cause");
  } else {
    const Look look = look_for_cause(check, run);
    // One that takes too long says where it is: no endless loop, as the program has ended.
    if (!look.trial.child.timed_out) {
      look_n = look.run.n;
      patient->finding = read_finding(look.trial.report);
      patient->watched = true;
    }
  }
  Questions of_one(check.program, check.folder, check.time_limit);
  Case job;
  job.ranks = 1;
  const Patient alone = of_one.patient(record.step, check.at_hand.source, job);
  const Diagnosis diagnosis = explain_all(what, *patient, alone, look_n, &lines);
  auto add = [&lines](const std::vector<std::string>& more) {
    lines.insert(lines.end(), more.begin(), more.end());
  };
  add(diagnosis.lines());
  if (stopped_early) {
    lines.push_back(
        format("it stopped after %d of %d iterations", made.iterations, run.iterations));
  }
  if (what.field) {
    describe_field(compared->field, made, what.first_iteration, &lines);
    if (!diagnosis.known() || diagnosis.draw) add(draw(what, *patient));
  } else if (!stopped_early || run.n < kHashedRecordN) {
    lines.push_back("the field is right");
  }
  if (what.residual) {
    describe_residual(compared->residuals, &lines);
  } else {
    lines.push_back("the residual is right");
  }
  describe_finding(patient->finding, &lines);
  return lines;
}

constexpr int kMeets = 13;  // no multiple of a --check-every that is tried

/// The run to a tolerance that goes with these cases, whose residual is to meet it in iteration
/// kMeets; one of no iterations where none is fit for that. A job has as many ranks as any of this
/// n: each decides by itself whether to go on.
Case run_to_tolerance(const std::vector<Case>& cases) {
  for (Case run : cases) {
    if (run.problem == lab::ProblemKind::kLaplace && run.n >= 20 && run.n <= 250 &&
        run.iterations > kMeets) {
      for (const Case& other : cases) {
        if (other.n == run.n) run.ranks = std::max(run.ranks, other.ranks);
      }
      run.iterations = 100;
      return run;
    }
  }
  Case none;
  none.iterations = 0;
  return none;
}

int most_ranks(const std::vector<Case>& cases) {
  int most = 0;
  for (const Case& run : cases) most = std::max(most, run.ranks);
  return most;
}

/// The probe shows what depends on the order of threads, whatever the number of ranks is. By NCCL
/// the host waits for no exchange: there streams that do not wait for one another go on too early.
void add_orders(std::vector<Case>* cases) {
  constexpr int kMaxShuffledN = 250;
  const std::vector<Case> forward = *cases;
  const int ranks = std::min(3, most_ranks(forward));
  for (const char* order : {"reverse", "shuffled"}) {
    for (Case run : forward) {
      const bool reverse = std::strcmp(order, "reverse") == 0;
      const bool by_nccl = run.halos && std::strcmp(run.halos, "nccl") == 0;
      if (run.problem != lab::ProblemKind::kProbe || (run.halos && !(by_nccl && reverse)) ||
          (!run.halos && run.ranks != ranks)) {
        continue;
      }
      // Small grids have all that depends on chance.
      if (!reverse && run.n > kMaxShuffledN) continue;
      run.order = order;
      cases->push_back(run);
    }
  }
}

/// Sizes that are multiples of every block's shape in use, one that has more blocks than most fixed
/// sizes allow for, and the step's own; each with few sweeps. Of a job, as many ranks as any has.
void add_sizes(int step, const Extent& extent, std::vector<Case>* cases) {
  const int sweeps = step >= kFirstPassStep ? kPassIterations : 3;
  const int ranks = most_ranks(*cases);
  std::vector<Case> more = {{lab::ProblemKind::kProbe, kMultipleN, kFewIterations},
                            {lab::ProblemKind::kProbe, kLargeMultipleN, sweeps}};
  if (step >= kFirstFastStep) more.push_back({lab::ProblemKind::kProbe, kBeyondN, 1});
  if (extent.own_n > 0) more.push_back({lab::ProblemKind::kProbe, extent.own_n, sweeps});
  for (Case& run : more) {
    run.ranks = extent.own_ranks > 0 && run.n == extent.own_n ? extent.own_ranks : ranks;
    cases->push_back(run);
  }
}

/// What the order of threads, in which alone this was found, says of it. `lines`: what was found.
std::string in_other_order(const Case& run, const std::vector<std::string>& lines) {
  // An access behind an allocation does harm or not, by what lies there.
  const bool access = std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
    return line.find(" bytes that cuda") != std::string::npos;
  });
  return format("That is with the threads run in %s order; ", run.order) +
         (access ? "forward it does not show." : "forward it is right: a race?");
}

}  // namespace

int usual_iterations(lab::ProblemKind problem, int n) {
  if (n > 1000) return 3;
  switch (problem) {
    case lab::ProblemKind::kProbe:
      // Once an odd number: there it shows which of two fields is taken for the result.
      return n < 200 ? 10 : 11;
    case lab::ProblemKind::kHarmonic:
      return 5;
    case lab::ProblemKind::kLaplace:
      break;
  }
  return 20;
}

std::vector<Case> usual_cases() {
  using lab::ProblemKind;
  std::vector<Case> cases;
  // The probe first: it shows nearly every mistake, and shows it at once.
  for (int n : {100, 250}) {
    for (ProblemKind problem :
         {ProblemKind::kProbe, ProblemKind::kLaplace, ProblemKind::kHarmonic}) {
      cases.push_back({problem, n, usual_iterations(problem, n)});
    }
  }
  // A missing barrier often does no harm on a grid so small that every block runs at once; and grid
  // and block exchanged in a launch are as good, as long as the grid is a block's 32 x 32 at most.
  // Of 33, 129 and 130 points a block of 32, 64 or 128 has one or two in a last one of its own: one
  // that only the boundary, or nothing, seems to need. And what loses less than a block of all
  // points loses a row of few.
  for (int n : {33, 129, 130}) cases.push_back({ProblemKind::kProbe, n, kFewIterations});
  cases.push_back({ProblemKind::kProbe, kLargestUsualN, 10});
  return cases;
}

std::vector<Case> cases_for_gpu() {
  using lab::ProblemKind;
  return {{ProblemKind::kProbe, 100, usual_iterations(ProblemKind::kProbe, 100)},
          {ProblemKind::kLaplace, 250, usual_iterations(ProblemKind::kLaplace, 250)},
          {ProblemKind::kProbe, kLargestUsualN, 10}};
}

std::vector<Case> with_ranks(const std::vector<Case>& cases, const std::vector<int>& ranks) {
  if (ranks.empty()) return cases;
  const int most = *std::max_element(ranks.begin(), ranks.end());
  std::vector<Case> jobs;
  std::size_t next = 0;
  for (Case run : cases) {
    const bool probe = run.problem == lab::ProblemKind::kProbe;
    // So small a grid becomes one whose ranks have few rows, all of which are neighbours', too.
    if (run.iterations == kFewIterations && run.n < kFewRowsARank * most && cases.size() > 1) {
      run.ranks = most;
      run.n = kFewRowsARank * most;
      jobs.push_back(run);
      continue;
    }
    for (std::size_t k = 0; k < (probe ? ranks.size() : 1); ++k) {
      run.ranks = ranks[probe ? k : next++ % ranks.size()];
      jobs.push_back(run);
    }
    // Both ways of exchange, where there are both: one of them nobody has asked for yet.
    if (probe && run.n == cases[0].n && most > 1) {
      run.ranks = most;
      for (const char* halos : {"mpi", "nccl"}) {
        run.halos = halos;
        jobs.push_back(run);
      }
      // By NCCL the host need not wait for exchanges: then as many checks as can be are under way.
      run.check_every = 1;
      jobs.push_back(run);
    }
  }
  return jobs;
}

Verdict check_program(const std::string& program, const std::vector<Case>& cases,
                      double time_limit_seconds, const Progress& progress, const AtHand& at_hand,
                      const Extent& extent) {
  Verdict verdict;
  const TemporaryFolder folder;
  const Check check{program, folder.path(), time_limit_seconds, progress, at_hand};
  Questions questions(program, folder.path(), time_limit_seconds);
  std::set<int> sizes;  // that were right
  auto ends = [&verdict](Verdict::Kind kind, const std::string& summary) {
    verdict.kind = kind;
    verdict.summary = summary;
    return verdict;
  };
  auto wrong = [&](const Case& run, std::vector<std::string> lines) {
    if (run.order) lines.push_back(in_other_order(run, lines));
    if ((run.n == kMultipleN || run.n == kLargeMultipleN) && sizes.size() > 1) {
      lines.push_back(
          "The other grids so far are right, and multiples of no block's shape. What is "
          "computed with n % ... ? It is 0 here.");
    }
    verdict.details.insert(verdict.details.end(), lines.begin(), lines.end());
    verdict.run = run;
    return ends(Verdict::kWrong, "wrong: " + describe(run));
  };
  bool different_rounding = false, single_precision = false;
  bool sparse = false;  // it computes a residual every so many sweeps only
  std::string few;      // what speaks against another rounding
  Case few_in;

  std::vector<Case> all_cases = cases;
  std::optional<Trials> trials;  // of all cases but the first
  for (std::size_t next = 0; next < all_cases.size(); ++next) {
    const Case run = all_cases[next];
    progress(describe(run));
    std::optional<Look> look;
    Trial trial = next == 0 ? try_first(check, run, &look) : trials->get(next - 1);
    const ChildResult& child = trial.run.child;
    if (!child.started) return ends(Verdict::kNoProgram, trial.run.error);
    if (child.exit_code == lab::kExitNoGpu) return ends(Verdict::kNoGpu, last_words(child));
    // Whose passes have more sweeps than the solution's needs more rows a rank, and says so.
    if (next > 0 && run.n == kFewRowsARank * run.ranks && child.exit_code == lab::kExitBadUsage) {
      continue;
    }
    if (child.exit_code == lab::kExitDoesNotFit && run.n == extent.own_n) {
      verdict.remarks.push_back(format("n = %d, its own, was not tried: ", run.n) +
                                last_words(child));
      continue;
    }
    if (!trial.run.machine.empty()) return ends(Verdict::kCannotRunHere, trial.run.machine);
    if (!trial.run.error.empty() && run.ranks > 0 && next == 0) {
      const std::string why_not = why_no_jobs(time_limit_seconds);
      if (!why_not.empty()) return ends(Verdict::kCannotRunHere, why_not);
    }
    Patient patient = questions.patient(trial.run.record.step, at_hand.source, run);
    if (next == 0) {
      if (patient.step >= kFirstSparseStep) {
        // An exercise that is not done yet computes every residual, as the step before did.
        const auto found = static_cast<int>(trial.run.record.residuals.size());
        sparse = found < trial.run.record.iterations;
        if (sparse) {
          const std::vector<Case> more =
              cases_of_checks(extent.few_checks ? std::vector<Case>{cases[0]} : cases);
          all_cases.insert(all_cases.end(), more.begin(), more.end());
        } else if (trial.run.error.empty() && run.iterations > 1) {
          verdict.remarks.push_back(
              "it computes the residual in every iteration; --check-every was not tried");
        }
      }
      if (extent.every_order) add_orders(&all_cases);
      if (extent.sizes) add_sizes(patient.step, extent, &all_cases);
      trials.emplace(program, std::vector<Case>(all_cases.begin() + 1, all_cases.end()),
                     check.folder, time_limit_seconds, trials_at_a_time());
    }
    const bool is_right = trial.run.error.empty() && trial.compared.error.empty() &&
                          trial.compared.residuals.kind != ResidualComparison::kWrong &&
                          trial.compared.field.kind != FieldComparison::kWrong &&
                          trial.run.record.iterations == run.iterations;
    if (!is_right) trials->stop();
    if (!is_right && !extent.explain) return wrong(run, {});
    if (!trial.run.error.empty()) {
      return wrong(run, explain_failure(check, run, trial.run, look, &patient));
    }
    if (!trial.compared.error.empty()) return wrong(run, {trial.compared.error});
    if (!is_right) return wrong(run, explain_wrong(check, run, &trial, &patient));
    // Another order of additions gives the same bits every time. A race that lost little does not.
    const bool rounding = trial.compared.field.kind == FieldComparison::kDifferentRounding;
    if (rounding && two_runs_differ(run, patient)) {
      return wrong(run, {kRace});
    }
    if (rounding && sparse && run.check_every != 1 && few.empty()) {
      few = too_few_to_be_rounding(run, trial.compared.field, patient);
      if (!few.empty()) few_in = run;
    }
    different_rounding |= rounding;
    single_precision |= trial.compared.residuals.kind == ResidualComparison::kSinglePrecision;
    sizes.insert(run.n);
    if (run.n == extent.own_n && run.n >= kHashedRecordN) {
      verdict.remarks.push_back(format("at n = %d, its own: %d sweeps, compared by a hash per row",
                                       run.n, run.iterations));
    }
  }

  // Another case may have shown more of it.
  if (!few.empty()) {
    return wrong(few_in,
                 {"diagnosis: " + few,
                  "look at: which boundary may be near: where a strip, or a warp's rows, has "
                  "it in its halo alone, its points keep their values there, too"});
  }

  // Every run so far was one of so many iterations: does it also stop by itself?
  std::size_t runs = all_cases.size();
  if (Case run = run_to_tolerance(cases); run.iterations > 0) {
    Reference reference(lab::Problem(run.problem, run.n, 1));
    const std::vector<double> expected = sweep_reference(&reference, run.iterations);
    // Ranks that do not agree differ at the first check; the tolerance is met at the second one.
    if (sparse && run.ranks > 1) run.check_every = 7;
    run.tolerance = std::sqrt(expected[kMeets - 2] * expected[kMeets - 1]);
    progress(describe(run));
    const Run trial = run_program(program, run, false, check.dir, time_limit_seconds);
    if (!trial.machine.empty()) return ends(Verdict::kCannotRunHere, trial.machine);
    const std::vector<std::string> lines = check_stopping(trial, run, expected, kMeets, sparse);
    if (!lines.empty()) return wrong(run, lines);
    ++runs;
  }

  std::string list;
  for (int n : sizes) list += (list.empty() ? "" : ", ") + std::to_string(n);
  verdict.summary = format("right: %zu run%s, n = %s; ", runs, runs == 1 ? "" : "s", list.c_str()) +
                    (different_rounding ? "fields within rounding" : "fields bit for bit") +
                    (single_precision ? ", residuals within 1e-6" : ", residuals within rounding");
  if (different_rounding) {
    verdict.remarks.push_back(
        "different rounding: the four neighbours are added in another order, or in double. That is "
        "legal.");
  } else if (single_precision) {
    verdict.remarks.push_back(
        "residual within 1e-6: its sum is of floats in part (single precision), or its changes are "
        "taken in double. That is legal.");
  }
  if (extent.every_order) {
    verdict.remarks.push_back("The same with blocks and threads in reverse and in shuffled order.");
  }
  return verdict;
}

}  // namespace validate
