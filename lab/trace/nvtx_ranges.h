#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "series.h"

namespace trace {

/// The NVTX ranges that have ended, by name ("domain:name" outside of the default domain).
Table nvtx_table();

/// The ranges that have begun, on any thread, and have not ended: how many of each name.
std::map<std::string, std::size_t> open_nvtx_ranges();

}  // namespace trace
