#pragma once

#include <string>
#include <vector>

#include "run/program_run.h"

namespace validate {

/// The iteration in which the residual of a run to a tolerance is to meet it: no multiple of a
/// --check-every that is tried.
inline constexpr int kMeets = 13;

/// The run to a tolerance that goes with these cases, whose residual is to meet it in iteration
/// kMeets; one of no iterations where none is fit for that. A job has as many ranks as any of this
/// n: each decides by itself whether to go on.
Case run_to_tolerance(const std::vector<Case>& cases);

/// A run to a tolerance: whether the program stops where its residual first meets it. (Known is
/// that runs of so many iterations are right.) Returns what is wrong, or nothing.
/// `expected`: the residuals; `sparse`: it computes one every so many sweeps only.
std::vector<std::string> check_stopping(const Run& trial, const Case& run,
                                        const std::vector<double>& expected, bool sparse);

}  // namespace validate
