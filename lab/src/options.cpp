#include <lab/options.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <system_error>

#include <unistd.h>

namespace lab {
namespace {

void print_help(const char* step, StepDefaults defaults) {
  std::printf(
      "%s: solves Laplace's equation on n x n points\n\n"
      "  --n N                points per side, %d to %d (default %d)\n"
      "  --iterations K       perform exactly K iterations, whatever the residual\n"
      "  --tolerance T        stop at a residual of at most T (default 1e-4)\n"
      "  --max-iterations M   stop after M iterations, converged or not (default 1000)\n"
      "  --problem NAME       laplace (default), probe or harmonic\n"
      "  --seed S             seed of the problem probe (default 1)\n",
      step, kMinN, kMaxN, defaults.n);
  if (defaults.check_every > 0) {
    std::printf("  --check-every C      compute the residual every C sweeps (default %d)\n",
                defaults.check_every);
  }
  std::printf(
      "  --record DIR         write residuals.csv, run.json and the field into DIR\n"
      "  --record-field WHAT  full: field.f32, every value (default up to n = %d)\n"
      "                       rows: rows.csv, a hash of each row\n"
      "  --quiet              print nothing but errors\n"
      "  --help               print this\n\n"
      "exit codes: 0 done, 1 not converged, 2 bad usage, 3 CUDA error,\n"
      "            4 cannot write, 5 does not fit in memory, 77 no usable GPU\n",
      kMaxFullRecordN);
}

struct Word {
  std::string option, value;
  bool has_value;
};

/// Both `--n 64` and `--n=64` are understood: of the latter, the value too.
Word split_at_equals(const std::string& word) {
  const std::size_t equals = word.find('=');
  if (word.rfind("--", 0) != 0 || equals == std::string::npos) return {word, "", false};
  return {word.substr(0, equals), word.substr(equals + 1), true};
}

/// Reads `text` as an integer in [low, high], or ends the program.
long long integer(const char* option, const char* text, long long low, long long high) {
  char* end = nullptr;
  errno = 0;
  const long long value = std::strtoll(text, &end, 10);
  if (end == text || *end != '\0') fail(kExitBadUsage, "%s %s: not a whole number", option, text);
  if (errno == ERANGE || value < low || value > high) {
    fail(kExitBadUsage, "%s %s: must be from %lld to %lld", option, text, low, high);
  }
  return value;
}

double non_negative_number(const char* option, const char* text) {
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  if (end == text || *end != '\0') fail(kExitBadUsage, "%s %s: not a number", option, text);
  if (!std::isfinite(value) || value < 0) {
    fail(kExitBadUsage, "%s %s: must be zero or more", option, text);
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

/// Finds out now, and not after an hour's run, that the record cannot be written.
void prepare_record_dir(const std::string& dir) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) {
    fail(kExitCannotWrite, "--record %s: %s", dir.c_str(), error.message().c_str());
  }
  if (!std::filesystem::is_directory(dir, error)) {
    fail(kExitCannotWrite, "--record %s: not a folder", dir.c_str());
  }
  if (access(dir.c_str(), W_OK | X_OK) != 0) {
    fail(kExitCannotWrite, "--record %s: %s", dir.c_str(), std::strerror(errno));
  }
}

}  // namespace

const char* problem_name(ProblemKind kind) {
  switch (kind) {
    case ProblemKind::kProbe:
      return "probe";
    case ProblemKind::kHarmonic:
      return "harmonic";
    case ProblemKind::kLaplace:
      break;
  }
  return "laplace";
}

bool parse_problem(const std::string& name, ProblemKind* kind) {
  for (ProblemKind candidate :
       {ProblemKind::kLaplace, ProblemKind::kProbe, ProblemKind::kHarmonic}) {
    if (name == problem_name(candidate)) {
      *kind = candidate;
      return true;
    }
  }
  return false;
}

Options parse_options(int argc, char** argv, StepDefaults defaults, const char* step) {
  set_program_name(step);
  Options options;
  options.start = std::chrono::steady_clock::now();
  options.step = step;
  options.n = defaults.n;
  options.check_every = defaults.check_every;
  bool convergence_given = false, field_record_given = false;

  for (int k = 1; k < argc; ++k) {
    Word word = split_at_equals(argv[k]);
    const std::string& option = word.option;
    const char* name = option.c_str();
    auto argument = [&]() -> const char* {
      if (!word.has_value) {
        if (k + 1 >= argc) fail(kExitBadUsage, "%s: needs a value (see --help)", name);
        word.value = argv[++k];
        word.has_value = true;
      }
      return word.value.c_str();
    };

    if (option == "--help" && !word.has_value) {
      if (job_rank() == 0) print_help(step, defaults);
      std::exit(kExitDone);
    } else if (option == "--n") {
      options.n = static_cast<int>(integer(name, argument(), kMinN, kMaxN));
    } else if (option == "--iterations") {
      options.fixed_iterations = true;
      options.max_iterations =
          static_cast<int>(integer(name, argument(), 1, std::numeric_limits<int>::max()));
    } else if (option == "--tolerance") {
      options.tolerance = non_negative_number(name, argument());
      convergence_given = true;
    } else if (option == "--max-iterations") {
      options.max_iterations =
          static_cast<int>(integer(name, argument(), 1, std::numeric_limits<int>::max()));
      convergence_given = true;
    } else if (option == "--problem") {
      if (!parse_problem(argument(), &options.problem)) {
        fail(kExitBadUsage, "--problem %s: must be laplace, probe or harmonic", word.value.c_str());
      }
    } else if (option == "--seed") {
      options.seed = static_cast<std::uint64_t>(
          integer(name, argument(), 0, std::numeric_limits<long long>::max()));
    } else if (option == "--check-every") {
      if (defaults.check_every == 0) {
        fail(kExitBadUsage, "--check-every: this step computes the residual in every iteration");
      }
      options.check_every = static_cast<int>(integer(name, argument(), 1, kMaxCheckEvery));
    } else if (option == "--record") {
      options.record_dir = argument();
      if (options.record_dir.empty()) fail(kExitBadUsage, "--record: needs a folder's name");
    } else if (option == "--record-field") {
      const std::string what = argument();
      if (what != "full" && what != "rows") {
        fail(kExitBadUsage, "--record-field %s: must be full or rows", what.c_str());
      }
      options.field_record = what == "full" ? FieldRecord::kFull : FieldRecord::kRows;
      field_record_given = true;
    } else if (option == "--quiet") {
      if (word.has_value) fail(kExitBadUsage, "--quiet: takes no value");
      options.quiet = true;
    } else {
      fail(kExitBadUsage, "%s: no such option (see --help)", argv[k]);
    }
  }

  check_together(options, convergence_given);
  // No residual is as small as -1: the loop `residual > tolerance` runs to the last iteration.
  if (options.fixed_iterations) options.tolerance = -1.0;
  if (!field_record_given && options.n > kMaxFullRecordN) {
    options.field_record = FieldRecord::kRows;
  }
  if (job_rank() > 0) {  // rank 0 prints and writes for all
    options.quiet = true;
    options.record_dir.clear();
  }
  if (!options.record_dir.empty()) prepare_record_dir(options.record_dir);
  return options;
}

ClinicOptions parse_clinic_options(int argc, char** argv, int default_n, const char* kernel) {
  set_program_name(kernel);
  ClinicOptions options;
  options.n = default_n;
  for (int k = 1; k < argc; ++k) {
    Word word = split_at_equals(argv[k]);
    const char* name = word.option.c_str();
    if (word.option == "--quiet" && !word.has_value) {
      options.quiet = true;
      continue;
    }
    if (word.option == "--help" && !word.has_value) {
      std::printf(
          "%s: a small kernel of the clinic\n\n"
          "  --n N            its size, %d to %d (default %d)\n"
          "  --iterations K   run it K times; the first is not timed (default 1, on a GPU 21)\n"
          "  --record DIR     write the result into DIR\n"
          "  --quiet          print nothing but errors\n"
          "  --help           print this\n",
          kernel, kMinN, kMaxClinicN, default_n);
      std::exit(kExitDone);
    }
    const bool known =
        word.option == "--n" || word.option == "--iterations" || word.option == "--record";
    if (!known) fail(kExitBadUsage, "%s: no such option (see --help)", argv[k]);
    if (!word.has_value) {
      if (k + 1 >= argc) fail(kExitBadUsage, "%s: needs a value (see --help)", name);
      word.value = argv[++k];
    }
    const char* text = word.value.c_str();
    if (word.option == "--n") {
      options.n = static_cast<int>(integer(name, text, kMinN, kMaxClinicN));
    } else if (word.option == "--iterations") {
      options.iterations = static_cast<int>(integer(name, text, 1, 1000000));
    } else {
      options.record_dir = word.value;
      if (word.value.empty()) fail(kExitBadUsage, "--record: needs a folder's name");
    }
  }
  if (!options.record_dir.empty()) prepare_record_dir(options.record_dir);
  return options;
}

}  // namespace lab
