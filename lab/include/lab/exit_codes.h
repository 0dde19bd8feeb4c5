#pragma once

namespace cuda_on_cpu {
struct Report;
}

namespace lab {

using cuda_on_cpu::Report;  // what the file that LAB_REPORT names says of the end, in columns

/// What a step's program returns to the shell. The validator and the scripts rely on these values.
enum ExitCode : int {
  kExitDone = 0,          ///< converged, or performed the iterations that --iterations asked for
  kExitNotConverged = 1,  ///< stopped at --max-iterations, or at a residual that is not a number
  kExitBadUsage = 2,      ///< a bad command line, or a function for run.finish that writes too much
  kExitCudaError = 3,     ///< a CUDA call or a kernel failed, or one of NCCL or MPI
  kExitCannotWrite = 4,   ///< the record could not be written
  kExitDoesNotFit = 5,    ///< the fields do not fit in memory
  kExitNoGpu = 77,        ///< no usable GPU (77 is what CTest and Automake take for "skipped")
};

/// Prints one line, `STEP: message`, on stderr and ends the program with `code`.
[[noreturn]] void fail(ExitCode code, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

/// The same, with a report.
[[noreturn]] void fail(ExitCode code, Report report, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

/// A call of CUDA that failed: the line begins with its place.
struct FailedCall {
  const char* file;
  int line;
  const char *call, *error;  ///< "cudaFree(f)", "cudaErrorInvalidValue"
  const Report* more;        ///< what the CPU, instead of a GPU, knows of it; null: nothing
};
[[noreturn]] void fail(ExitCode code, const FailedCall& call, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

/// The name that `fail` puts before its line. Who reads the command line sets it.
void set_program_name(const char* name);

/// This process in its job, which may have others, its ranks (lab/ranks.h): how one of them ends
/// them all.
struct Job {
  int rank = 0, size = 1;  ///< this one's, and how many there are
  /// What stands before the line that says why the job ends with `code`: "rank 2: ", say. One rank
  /// says it for all; in the others it is null.
  const char* (*words)(ExitCode code) = nullptr;
  /// Ends the job with `code`. Does not return.
  void (*end)(ExitCode code) = nullptr;
};
inline Job job;

}  // namespace lab
