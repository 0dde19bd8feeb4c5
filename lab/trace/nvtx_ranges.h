#pragma once

#include <vector>

#include "series.h"

namespace trace {

/// The NVTX ranges that have ended, by name ("domain:name" outside of the default domain), and
/// those that never did.
Table nvtx_table();
std::size_t open_nvtx_ranges();

}  // namespace trace
