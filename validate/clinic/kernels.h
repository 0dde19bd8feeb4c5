#pragma once

#include <functional>
#include <string>
#include <vector>

#include "goals/measures.h"

namespace validate {

/// Counts are taken at this n: of fewer elements, a warp for each multiprocessor would be many.
inline constexpr int kClinicN = 256;

/// What nvcc says of a program's kernels. -1: it was not asked.
struct FromNvcc {
  int stack_bytes = -1;  ///< per thread, in local memory
  int divisions = -1;    ///< instructions of the PTX that divide integers
  int doubles = -1;      ///< instructions of the PTX with values of 64-bit floating point
};

/// What the kernels of a program did to memory together, counted on the CPU.
struct ClinicCount {
  int n = 0;
  KernelCount all;
  double blocks = 0;          ///< of the largest launch grid
  double threads = 0;         ///< of the largest launch grid
  double resident_warps = 0;  ///< the fewest of a kernel that a multiprocessor of an H200 holds
  FromNvcc from_nvcc;

  double elements() const { return double(n) * n; }
};

struct ClinicGoal {
  const char* goal;
  std::function<Measured(const ClinicCount&)> measure;
  const char* advice;  ///< if it is missed
};

/// A kernel of the clinic: what it computes, and what its learner is to reach.
struct ClinicKernel {
  const char* name;
  /// The result at size n, kNotWritten for what must not be written.
  std::function<std::vector<int>(int n)> expected;
  int rows;  ///< their length is n, rounded up to a multiple of this; 0: the result has no rows
  std::vector<ClinicGoal> goals;

  /// Elements per row of the result, so that messages can name a row; 0: it has no rows.
  int pitch(int n) const { return rows > 0 ? (n + rows - 1) / rows * rows : 0; }
};

/// The kernel of that name; nullptr if there is none.
const ClinicKernel* find_clinic_kernel(const std::string& name);

/// Whether a program's result is right at size n. "" if it is; else what is wrong, in lines.
/// Throws NotMeasurable if the machine is to blame and not the program.
std::string what_is_wrong(const ClinicKernel& kernel, const std::string& program, int n,
                          double time_limit);

/// What nvcc left in a folder: `log`, printed with -Xptxas -v, and `kernel.ptx`. For "" nothing was
/// asked. Throws NotMeasurable if they are not there.
FromNvcc read_from_nvcc(const std::string& folder);

/// Measures the kernel's goals with the watched program of `bench`, and prints them.
GoalCount measure_clinic_goals(const ClinicKernel& kernel, Bench* bench, const FromNvcc& from_nvcc);

}  // namespace validate
