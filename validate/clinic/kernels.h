#pragma once

#include <functional>
#include <string>
#include <vector>

#include "goals/measures.h"

namespace validate {

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

/// What a kernel of the clinic is for, as something that is counted.
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

}  // namespace validate
