#pragma once

#include <string>

/// Measures what this GPU can do at most, from DRAM to arithmetic; prints tables and writes them as
/// DIR/bandwidth.tsv where `results` names a folder.
void measure_ceilings(const std::string& results);
