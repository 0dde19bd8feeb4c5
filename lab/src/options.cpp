#include <lab/command_line.h>
#include <lab/format.h>
#include <lab/options.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <system_error>

#include <unistd.h>

namespace lab {
namespace {

std::string help_of(const char* step, StepDefaults defaults) {
  if (job.rank > 0) return "";
  const std::string of_checks =
      defaults.check_every == 0
          ? ""
          : format("  --check-every C      compute the residual every C sweeps (default %d)\n",
                   defaults.check_every);
  return format(
      "%s: solves Laplace's equation on n x n points\n\n"
      "  --n N                points per side, %d to %d (default %d)\n"
      "  --iterations K       perform exactly K iterations, whatever the residual; 0: none\n"
      "  --tolerance T        stop at a residual of at most T (default 1e-4)\n"
      "  --max-iterations M   stop after M iterations, converged or not (default 1000)\n"
      "  --problem NAME       laplace (default), probe or harmonic\n"
      "%s"
      "  --record DIR         write residuals.csv, run.json and the field into DIR\n"
      "  --record-field WHAT  full: field.f32, every value (default up to n = %d)\n"
      "                       rows: rows.csv, a hash of each row; none: no field\n"
      "  --quiet              print nothing but errors\n"
      "  --help               print this\n\n"
      "exit codes: 0 done, 1 not converged, 2 bad usage, 3 CUDA error,\n"
      "            4 cannot write, 5 does not fit in memory, 77 no usable GPU\n",
      step, kMinN, kMaxN, defaults.n, of_checks.c_str(), kMaxFullRecordN);
}

double read_tolerance(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (*end != '\0') {
    fail(kExitBadUsage, "--tolerance %s: not a number", text.c_str());
  }
  if (!std::isfinite(value) || value < 0) {
    fail(kExitBadUsage, "--tolerance %s: must be zero or more", text.c_str());
  }
  return value;
}

/// What each option alone does not show. `convergence_given`: --tolerance, or --max-iterations.
void check_together(const Options& options, bool convergence_given) {
  if (options.n < kMinN || options.n > kMaxN) {
    fail(kExitBadUsage, "the step's own n is %d (kDefaultN): it must be from %d to %d", options.n,
         kMinN, kMaxN);
  }
  if (options.fixed_iterations && convergence_given) {
    fail(kExitBadUsage,
         "--iterations performs exactly that many: use it without --tolerance and "
         "--max-iterations");
  }
  if (options.problem == ProblemKind::kHarmonic && options.n > kMaxHarmonicN) {
    fail(kExitBadUsage, "--problem harmonic: n = %d is too large: it is exact only up to n = %d",
         options.n, kMaxHarmonicN);
  }
}

}  // namespace

void prepare_folder(const char* option, const std::string& dir) {
  if (dir.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (!error && access((dir + "/").c_str(), W_OK | X_OK) != 0) {  // nor does a file do
    error = {errno, std::generic_category()};
  }
  if (error) {
    fail(kExitCannotWrite, "%s %s: %s", option, dir.c_str(), error.message().c_str());
  }
}

const char* problem_name(ProblemKind kind) {
  constexpr const char* kNames[] = {"laplace", "probe", "harmonic"};
  return kNames[static_cast<int>(kind)];
}

ProblemKind read_problem(const std::string& name) {
  for (ProblemKind kind : {ProblemKind::kLaplace, ProblemKind::kProbe, ProblemKind::kHarmonic}) {
    if (name == problem_name(kind)) return kind;
  }
  fail(kExitBadUsage, "--problem %s: must be laplace, probe or harmonic", name.c_str());
}

Options parse_options(int argc, char** argv, StepDefaults defaults, const char* step) {
  Options options;
  options.start = std::chrono::steady_clock::now();
  options.step = step;
  options.n = defaults.n;
  options.check_every = defaults.check_every;
  constexpr int kMost = std::numeric_limits<int>::max();
  int iterations = -1, max_iterations = -1;  // -1: not given
  bool convergence_given = false, field_record_given = false;

  CommandLine line(step, help_of(step, defaults));
  line.integer("--n", kMinN, kMaxN, &options.n);
  line.integer("--iterations", 0, kMost, &iterations);
  line.value("--tolerance", [&](const std::string& text) {
    options.tolerance = read_tolerance(text);
    convergence_given = true;
  });
  line.integer("--max-iterations", 1, kMost, &max_iterations);
  line.value("--problem", [&](const std::string& text) { options.problem = read_problem(text); });
  if (defaults.check_every > 0) {
    line.integer("--check-every", 1, kMaxCheckEvery, &options.check_every);
  } else {
    line.value("--check-every", [](const std::string&) {
      fail(kExitBadUsage, "--check-every: this step computes the residual in every iteration");
    });
  }
  line.text("--record", &options.record_dir);
  line.value("--record-field", [&](const std::string& what) {
    const auto found = std::find(std::begin(kFieldRecordNames), std::end(kFieldRecordNames), what);
    if (found == std::end(kFieldRecordNames)) {
      fail(kExitBadUsage, "--record-field %s: must be full, rows or none", what.c_str());
    }
    options.field_record = FieldRecord(found - std::begin(kFieldRecordNames));
    field_record_given = true;
  });
  line.flag("--quiet", &options.quiet);
  line.read(argc, argv);

  options.fixed_iterations = iterations >= 0;
  convergence_given |= max_iterations > 0;
  const int most = std::max(iterations, max_iterations);
  if (most >= 0) options.max_iterations = most;
  check_together(options, convergence_given);
  // No residual is as small as -1: the loop `residual > tolerance` runs to the last iteration.
  if (options.fixed_iterations) options.tolerance = -1.0;
  if (!field_record_given && options.n > kMaxFullRecordN) {
    options.field_record = FieldRecord::kRows;
  }
  if (job.rank > 0) {  // rank 0 prints and writes for all
    options.quiet = true;
    options.record_dir.clear();
  }
  prepare_folder("--record", options.record_dir);
  return options;
}

ClinicOptions parse_clinic_options(int argc, char** argv, int default_n, const char* kernel) {
  ClinicOptions options;
  options.n = default_n;
  const std::string help = format(
      "%s: a small kernel of the clinic\n\n"
      "  --n N            its size, %d to %d (default %d)\n"
      "  --iterations K   run it K times; the first is not timed (default 1, on a GPU 21)\n"
      "  --record DIR     write the result into DIR\n"
      "  --quiet          print nothing but errors\n"
      "  --help           print this\n",
      kernel, kMinN, kMaxClinicN, default_n);
  CommandLine line(kernel, help);
  line.integer("--n", kMinN, kMaxClinicN, &options.n);
  line.integer("--iterations", 1, 1000000, &options.iterations);
  line.text("--record", &options.record_dir);
  line.flag("--quiet", &options.quiet);
  line.read(argc, argv);
  prepare_folder("--record", options.record_dir);
  return options;
}

}  // namespace lab
