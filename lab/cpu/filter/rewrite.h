#pragma once

#include <string>
#include <vector>

#include "rules.h"

namespace cuda_filter {

struct Rewritten {
  std::string text;  ///< empty if there are errors
  std::vector<Error> errors;
};

/// Turns CUDA into C++, line by line: `name` is what the result's first line calls the file, and
/// `folder` is where #include "..." looks. `headers_too`: its headers are also rewritten, so they
/// may have kernels.
Rewritten rewrite(const std::string& source, const std::string& name,
                  const std::string& folder = ".", bool headers_too = false);

/// Reads a whole file; returns false if it cannot be read.
bool read_file(const std::string& path, std::string* text);

}  // namespace cuda_filter
