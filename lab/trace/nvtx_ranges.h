#pragma once

#include <cstddef>

#include "series.h"

namespace trace {

/// The NVTX ranges that have ended, by name ("domain:name" outside of the default domain).
Table nvtx_table();

/// How many ranges have begun, on any thread, and have not ended.
std::size_t open_nvtx_ranges();

}  // namespace trace
