#pragma once

namespace trace {

/// From now on the tables are printed, and written to the file that LAB_TRACE_TSV names, when the
/// program ends.
void report_at_exit();

}  // namespace trace
