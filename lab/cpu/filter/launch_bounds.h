#pragma once

#include "lexer.h"
#include "rewrite.h"

namespace cuda_filter {

/// A kernel with __launch_bounds__(N) looks, as it begins, whether its block has more threads: a
/// GPU refuses such a launch.
void rewrite_launch_bounds(const std::string& source, const Tokens& tokens, Changes* changes);

}  // namespace cuda_filter
