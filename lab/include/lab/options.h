#pragma once

#include <lab/exit_codes.h>

#include <chrono>
#include <string>
#include <vector>

/// The step's name, such as "04_jacobi_kernel". The build defines it from the step's folder.
#ifndef LAB_STEP_NAME
#define LAB_STEP_NAME "jacobi"
#endif

namespace lab {

/// The fewest and the most points per side that --n takes.
inline constexpr int kMinN = 3;
inline constexpr int kMaxN = 1 << 20;
/// The most points per side for the problem `harmonic`: beyond it x^2 is not exact in a float.
inline constexpr int kMaxHarmonicN = 4096;
/// The most sweeps from one residual to the next: a step may keep them all as one graph.
inline constexpr int kMaxCheckEvery = 10000;
/// The largest n of a kernel of the clinic.
inline constexpr int kMaxClinicN = 16384;
/// Above this n a record holds a hash of each row instead of the field, unless asked otherwise.
inline constexpr int kMaxFullRecordN = 16384;

enum class ProblemKind { kLaplace, kProbe, kHarmonic };
enum class FieldRecord { kFull, kRows, kNone };
/// What --record-field and run.json call each of them.
inline constexpr const char* kFieldRecordNames[] = {"full", "rows", "none"};

/// "laplace", "probe" or "harmonic".
const char* problem_name(ProblemKind kind);

/// The problem that --problem names; bad usage if there is no such problem.
ProblemKind read_problem(const std::string& name);

/// What a step brings to the command line.
struct StepDefaults {
  int n;                ///< points per side
  int check_every = 0;  ///< sweeps from one residual to the next; 0: the step has no such option
};

/// The command line of a step, checked.
struct Options {
  std::string step;               ///< the step's name
  int n = 0;                      ///< points per side, boundary included
  bool fixed_iterations = false;  ///< --iterations was given: perform exactly `max_iterations`
  int max_iterations = 1000;      ///< where to stop, converged or not
  double tolerance = 1e-4;        ///< stop at a residual this small; -1 with --iterations
  ProblemKind problem = ProblemKind::kLaplace;
  int check_every = 0;     ///< sweeps from one residual to the next
  std::string record_dir;  ///< where to write the run's record; empty: no record
  FieldRecord field_record = FieldRecord::kFull;
  bool quiet = false;                           ///< print nothing but errors
  std::chrono::steady_clock::time_point start;  ///< when the program began
};

/// Reads a step's command line. Bad usage ends the program with one line on stderr and exit code 2,
/// a record folder that cannot be written with exit code 4; --help prints the options and exits 0.
Options parse_options(int argc, char** argv, StepDefaults defaults,
                      const char* step = LAB_STEP_NAME);

/// Makes the folder that an option names, if it names one, and finds out now, not after an hour's
/// run, that nothing can be written there (exit code 4).
void prepare_folder(const char* option, const std::string& dir);

/// The command line of a kernel of the clinic (lab/clinic.h), checked.
struct ClinicOptions {
  int n = 0;
  int iterations = 0;      ///< how often the kernel runs, the first time untimed; 0: as it likes
  std::string record_dir;  ///< where to write the result; empty: nowhere
  bool quiet = false;      ///< print nothing but errors
};

/// Reads it, and ends the program as parse_options does.
ClinicOptions parse_clinic_options(int argc, char** argv, int default_n,
                                   const char* kernel = LAB_STEP_NAME);

/// Writes the result of a kernel of the clinic into the folder that --record named, if it did.
void record_clinic(const ClinicOptions& options, const std::vector<int>& result);

}  // namespace lab
