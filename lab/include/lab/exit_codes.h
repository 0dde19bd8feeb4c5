#pragma once

namespace lab {

/// What a step's program returns to the shell. The validator and the scripts rely on these values.
enum ExitCode : int {
  kExitDone = 0,          ///< converged, or made the iterations that --iterations asked for
  kExitNotConverged = 1,  ///< stopped at --max-iterations, or at a residual that is not a number
  kExitBadUsage = 2,      ///< a bad command line
  kExitCudaError = 3,     ///< a CUDA call or a kernel failed
  kExitCannotWrite = 4,   ///< the record could not be written
  kExitDoesNotFit = 5,    ///< the fields do not fit in memory
  kExitNoGpu = 77,        ///< no usable GPU (77 is what CTest and Automake take for "skipped")
};

/// Prints one line, `STEP: message`, on stderr and ends the program with `code`.
[[noreturn]] void fail(ExitCode code, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

/// The name that `fail` puts before its line; `parse_options` sets it.
void set_program_name(const char* name);

}  // namespace lab
