#pragma once

#include <string>
#include <vector>

#include "clinic/kernels.h"

namespace validate {

/// Whether a program's result is right at size n. "" if it is; else what is wrong, in lines.
/// Throws NotMeasurable if the machine is to blame and not the program.
std::string what_is_wrong(const ClinicKernel& kernel, const std::string& program, int n,
                          double time_limit);

/// What is wrong with `result`, compared with `expected`; "" if nothing is.
std::string compare_results(const std::vector<int>& result, const std::vector<int>& expected,
                            int pitch);

/// What nvcc left in a folder: `log`, printed with -Xptxas -v, and `kernel.ptx`. For "" nothing was
/// asked. Throws NotMeasurable if they are not there.
FromNvcc read_from_nvcc(const std::string& folder);

/// Measures the kernel's goals with the watched program of `bench`, and prints them.
GoalCount measure_clinic_goals(const ClinicKernel& kernel, Bench* bench, const FromNvcc& from_nvcc);

}  // namespace validate
