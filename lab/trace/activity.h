#pragma once

#include <string>
#include <vector>

#include "series.h"

namespace trace {

/// What the program did with the GPU: kernels, API calls, copies, unified memory, allocations.
/// Empty where it never started CUDA up.
std::vector<Table> activity_tables();

/// What kept the tracer from seeing all of it.
std::vector<std::string> activity_remarks();

}  // namespace trace
