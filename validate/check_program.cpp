#include "check_program.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <stdexcept>

#include <lab/problem.h>
#include <lab/run.h>

#include "child.h"
#include "compare.h"
#include "record.h"
#include "reference.h"

namespace validate {
namespace {

/// From here on a record holds row hashes, which are written and read faster than the field; where
/// they differ, the field is looked at after all.
constexpr int kHashedRecordN = 4096;

std::string format(const char* pattern, ...) __attribute__((format(printf, 1, 2)));
std::string format(const char* pattern, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(text, sizeof text, pattern, arguments);
  va_end(arguments);
  return text;
}

std::string describe(const Case& run) {
  return format("%s, n = %d, %d iteration%s", lab::problem_name(run.problem), run.n, run.iterations,
                run.iterations == 1 ? "" : "s");
}

/// A run of the program and what it left behind.
struct Run {
  ChildResult child;
  Record record;
  std::string error;  // not empty: there is no record to compare, and this is why
};

Run run_program(const std::string& program, const Case& run, bool hashed, const std::string& dir,
                double time_limit) {
  Run result;
  std::error_code ignored;
  std::filesystem::remove_all(dir, ignored);
  result.child =
      run_child({program, "--n", std::to_string(run.n), "--iterations",
                 std::to_string(run.iterations), "--problem", lab::problem_name(run.problem),
                 "--record", dir, "--record-field", hashed ? "rows" : "full", "--quiet"},
                time_limit);
  const ChildResult& child = result.child;
  const std::string said = child.last_line();
  if (!child.started) {
    result.error = program + ": " + child.output;
  } else if (child.timed_out) {
    result.error = format("it did not end within %.0f s: an endless loop, a deadlock, or very slow",
                          time_limit);
  } else if (child.signal != 0) {
    result.error = "it crashed: " + describe_signal(child.signal);
  } else if (child.exit_code > lab::kExitNotConverged) {
    result.error = format("it ended with exit code %d", child.exit_code) +
                   (said.empty() ? std::string(", and said nothing") : ": " + said);
  } else if (!read_record(dir, run.n, run.iterations, &result.record, &result.error)) {
    result.error = "its record is no use: " + result.error;
  } else if (child.exit_code != 0 && result.record.iterations == run.iterations &&
             !std::isnan(result.record.residuals.back().value)) {
    result.error = format("it made all %d iterations, and still ended with exit code %d",
                          run.iterations, child.exit_code);
  }
  return result;
}

void describe_residual(const ResidualComparison& residual, std::vector<std::string>* lines) {
  lines->push_back(format("the residual is wrong from iteration %d on: expected %.9g, found %.9g",
                          residual.iteration, residual.expected, residual.found));
  if (residual.expected > 0 && std::isfinite(residual.found)) {
    lines->push_back(
        format("  that is %.6g times the right one", residual.found / residual.expected));
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
  lines->push_back(format("  %zu of %zu points are wrong, by up to %.3g", field.wrong, points,
                          field.max_difference));
  lines->push_back(format("  they lie in i = %d..%d, j = %d..%d (the interior is 1..%d)",
                          field.i_min, field.i_max, field.j_min, field.j_max, run.n - 2));
  lines->push_back("       i      j      expected         found");
  for (const Cell& cell : field.first) {
    lines->push_back(format("  %6d %6d %13.6g %13.6g", cell.i, cell.j, cell.expected, cell.found));
  }
}

/// Both comparisons of one run with the reference, which makes its sweeps meanwhile.
struct Comparison {
  ResidualComparison residuals;
  FieldComparison field;
  std::string error;  // not empty: the field could not be read
};

Comparison compare_run(const Case& run, const Record& record, const std::string& dir,
                       Reference* reference, const std::vector<double>& expected) {
  Comparison result;
  result.residuals = compare_residuals(expected, record.residuals, run.n);
  FieldReader reader;
  if (!reader.open(dir, run.n, &result.error)) return result;
  std::vector<float> nan_row(run.n, NAN);
  result.field = compare_field(*reference, run.iterations, [&]() {
    const float* row = reader.next_row();
    return row ? row : nan_row.data();
  });
  return result;
}

std::vector<double> sweep_reference(Reference* reference, int iterations) {
  std::vector<double> residuals;
  for (int k = 0; k < iterations; ++k) residuals.push_back(reference->sweep());
  return residuals;
}

bool hashes_agree(const Reference& reference, const std::vector<std::uint64_t>& hashes) {
  for (int j = 0; j < reference.n(); ++j) {
    if (lab::row_hash(reference.row(j), reference.n()) != hashes[j]) return false;
  }
  return true;
}

constexpr const char* kRace =
    "two runs of it give different fields: a race (is a barrier missing, or misplaced?)";

/// Whether two more runs of the program give fields of different bits.
bool two_runs_differ(const std::string& program, const Case& run, const std::string& folder,
                     double time_limit) {
  const std::string one = folder + "/one", other = folder + "/other";
  if (!run_program(program, run, false, one, time_limit).error.empty() ||
      !run_program(program, run, false, other, time_limit).error.empty()) {
    return false;
  }
  FieldReader readers[2];
  std::string error;
  if (!readers[0].open(one, run.n, &error) || !readers[1].open(other, run.n, &error)) return false;
  for (int j = 0; j < run.n; ++j) {
    const float* rows[2] = {readers[0].next_row(), readers[1].next_row()};
    if (!rows[0] || !rows[1]) return false;
    if (std::memcmp(rows[0], rows[1], sizeof(float) * run.n) != 0) return true;
  }
  return false;
}

/// Finds, by runs of fewer iterations, the first one after which the field is wrong: it is right
/// after `low` of them and wrong after `high`. Sets `field` to what is wrong then: one wrong column
/// soon makes its neighbours wrong. Returns 0 where the runs do not say.
int first_wrong_iteration(const std::string& program, const Case& run, const std::string& dir,
                          double time_limit, FieldComparison* field) {
  int low = 0, high = run.iterations;
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    Case shorter = run;
    shorter.iterations = middle;
    const Run trial = run_program(program, shorter, false, dir, time_limit);
    if (!trial.error.empty()) return 0;
    Reference reference(lab::Problem(run.problem, run.n, 1));
    const std::vector<double> expected = sweep_reference(&reference, middle);
    const Comparison compared = compare_run(shorter, trial.record, dir, &reference, expected);
    if (!compared.error.empty()) return 0;
    if (compared.field.kind == FieldComparison::kWrong) {
      high = middle;
      *field = compared.field;
    } else {
      low = middle;
    }
  }
  return high;
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  const char* base = std::getenv("TMPDIR");
  path_ = std::string(base && *base ? base : "/tmp") + "/jacobi-validate-XXXXXX";
  if (!mkdtemp(&path_[0])) {
    throw std::runtime_error(path_ + ": " + std::strerror(errno) +
                             " (set TMPDIR to a folder that can be written)");
  }
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

int usual_iterations(lab::ProblemKind problem, int n) {
  if (n > 1000) return 3;
  switch (problem) {
    case lab::ProblemKind::kProbe:
      return 10;
    case lab::ProblemKind::kHarmonic:
      return 5;
    case lab::ProblemKind::kLaplace:
      break;
  }
  return 20;
}

std::vector<Case> usual_cases(const std::vector<int>& further_sizes) {
  using lab::ProblemKind;
  std::vector<Case> cases;
  // The probe first: it shows nearly every mistake, and shows it at once.
  for (int n : {100, 250}) {
    for (ProblemKind problem :
         {ProblemKind::kProbe, ProblemKind::kLaplace, ProblemKind::kHarmonic}) {
      cases.push_back({problem, n, usual_iterations(problem, n)});
    }
  }
  // A missing barrier often does no harm on a grid so small that every block runs at once.
  cases.push_back({ProblemKind::kProbe, 1000, usual_iterations(ProblemKind::kProbe, 1000)});
  for (int n : further_sizes) {
    for (ProblemKind problem : {ProblemKind::kProbe, ProblemKind::kLaplace}) {
      cases.push_back({problem, n, usual_iterations(problem, n)});
    }
  }
  return cases;
}

Verdict check_program(const std::string& program, const std::vector<Case>& cases,
                      double time_limit_seconds, const Progress& progress) {
  Verdict verdict;
  const TemporaryFolder folder;
  const std::string dir = folder.path() + "/record";
  bool different_rounding = false, single_precision = false;
  std::set<int> sizes;

  for (const Case& run : cases) {
    progress(describe(run));
    bool hashed = run.n >= kHashedRecordN;
    Run trial = run_program(program, run, hashed, dir, time_limit_seconds);
    if (!trial.child.started) {
      verdict.kind = Verdict::kCannotRun;
      verdict.summary = trial.error;
      return verdict;
    }
    if (trial.child.exit_code == lab::kExitNoGpu) {
      verdict.kind = Verdict::kNoGpu;
      // Without the program's name in front: the caller has its own.
      const std::string said = trial.child.last_line();
      const std::size_t colon = said.find(": ");
      verdict.summary = colon < said.find(' ') ? said.substr(colon + 2) : said;
      return verdict;
    }
    auto wrong = [&](const std::string& why) {
      verdict.kind = Verdict::kWrong;
      verdict.summary = "wrong: " + describe(run);
      if (!why.empty()) verdict.details.push_back(why);
      return verdict;
    };
    if (!trial.error.empty()) return wrong(trial.error);

    Reference reference(lab::Problem(run.problem, run.n, 1));
    const std::vector<double> expected = sweep_reference(&reference, run.iterations);
    // A program that stops early has a residual that is not a number, or a wrong loop.
    const bool stopped_early = trial.record.iterations < run.iterations;
    Comparison compared;
    compared.residuals = compare_residuals(expected, trial.record.residuals, run.n);
    if (!stopped_early) {
      bool look_at_field = true;
      if (hashed) {
        std::vector<std::uint64_t> hashes;
        std::string error;
        if (!read_row_hashes(dir, run.n, &hashes, &error)) return wrong(error);
        look_at_field = !hashes_agree(reference, hashes);
        if (look_at_field) {
          trial = run_program(program, run, false, dir, time_limit_seconds);
          if (!trial.error.empty()) return wrong(trial.error);
        }
      }
      if (look_at_field) compared = compare_run(run, trial.record, dir, &reference, expected);
      if (!compared.error.empty()) return wrong(compared.error);
    }

    const bool residual_wrong = compared.residuals.kind == ResidualComparison::kWrong;
    const bool field_wrong = compared.field.kind == FieldComparison::kWrong;
    if (residual_wrong || field_wrong || stopped_early) {
      wrong("");
      if (stopped_early) {
        verdict.details.push_back(format("it stopped after %d of %d iterations",
                                         trial.record.iterations, run.iterations));
      }
      if (field_wrong) {
        progress("looking for the first wrong iteration");
        const int first =
            first_wrong_iteration(program, run, dir, time_limit_seconds, &compared.field);
        describe_field(compared.field, run, first, &verdict.details);
        if (two_runs_differ(program, run, folder.path(), time_limit_seconds)) {
          verdict.details.push_back(kRace);
        }
      } else if (!stopped_early) {
        verdict.details.push_back("the field is right");
      }
      if (residual_wrong) {
        describe_residual(compared.residuals, &verdict.details);
      } else {
        verdict.details.push_back("the residual is right");
      }
      return verdict;
    }
    // Another order of additions gives the same bits every time. A race that lost little does not.
    if (compared.field.kind == FieldComparison::kDifferentRounding &&
        two_runs_differ(program, run, folder.path(), time_limit_seconds)) {
      return wrong(kRace);
    }
    different_rounding |= compared.field.kind == FieldComparison::kDifferentRounding;
    single_precision |= compared.residuals.kind == ResidualComparison::kSinglePrecision;
    sizes.insert(run.n);
  }

  std::string list;
  for (int n : sizes) list += (list.empty() ? "" : ", ") + std::to_string(n);
  verdict.summary = format("right: %zu run%s, n = %s; ", cases.size(), cases.size() == 1 ? "" : "s",
                           list.c_str()) +
                    (different_rounding ? "fields within rounding" : "fields bit for bit") +
                    (single_precision ? ", residuals within 1e-6" : ", residuals within rounding");
  if (different_rounding) {
    verdict.remarks.push_back(
        "different rounding: the four neighbours are added in another order. That is legal.");
  } else if (single_precision) {
    verdict.remarks.push_back(
        "single-precision sum: the residual is within 1e-6, as a tree of float sums is. Right.");
  }
  return verdict;
}

}  // namespace validate
