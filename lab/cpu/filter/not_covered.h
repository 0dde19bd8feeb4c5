#pragma once

#include <string>

#include "lexer.h"
#include "rewrite.h"

namespace cuda_filter {

/// "CUDA on the CPU does not cover WHAT": scripts look for these words.
std::string does_not_cover(const std::string& what);

/// Complains of each name in the tokens that CUDA has, and CUDA on the CPU has not.
void find_not_covered(const Tokens& tokens, Changes* changes);

/// The same of a header that `directive` includes, which may be any directive. A file of that name
/// in `folder` is the program's own.
void find_header_not_covered(const std::string& source, const Tokens& directive,
                             const std::string& folder, Changes* changes);

}  // namespace cuda_filter
