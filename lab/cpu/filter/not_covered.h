#pragma once

#include "lexer.h"
#include "rewrite.h"

namespace cuda_filter {

/// Complains of each name in the tokens that CUDA on the CPU knows, but cannot run.
void find_not_covered(const Tokens& tokens, Changes* changes);

}  // namespace cuda_filter
