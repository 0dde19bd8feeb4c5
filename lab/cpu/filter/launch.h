#pragma once

#include <cstddef>
#include <string>

#include "lexer.h"
#include "rewrite.h"

namespace cuda_filter {

/// Whether the token is the <<< of a launch: that of `operator<<<T>` is not.
bool is_launch(const Tokens& tokens, std::size_t k);

/// KERNEL<<<CONFIG>>>(...) becomes launch(LAMBDA, CONFIG)(...), where LAMBDA calls KERNEL; and
/// cudaLaunchKernel((void*)KERNEL, ...) loses the cast.
void rewrite_launches(const Tokens& tokens, Changes* changes);

/// A kernel with __launch_bounds__(N) looks, as it begins, whether its block has more threads: a
/// GPU refuses such a launch.
void rewrite_launch_bounds(const std::string& source, const Tokens& tokens, Changes* changes);

}  // namespace cuda_filter
