#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "series.h"

namespace trace {

/// What the program did with the GPU: kernels, API calls, copies, unified memory, allocations.
/// Empty where it never started CUDA up.
std::vector<Table> activity_tables();

/// What kept the tracer from seeing all of it.
std::vector<std::string> activity_remarks();

/// The NVTX ranges that have ended, by name ("domain:name" outside of the default domain).
Table nvtx_table();

/// The ranges that have begun, on any thread, and have not ended: how many of each name.
std::map<std::string, std::size_t> open_nvtx_ranges();

/// From now on the tables are printed, and written to the file that LAB_TRACE_TSV names, when the
/// program ends.
void report_at_exit();

}  // namespace trace
