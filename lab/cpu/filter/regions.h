#pragma once

#include <cstddef>
#include <vector>

#include "lexer.h"

namespace cuda_filter {

/// A source file taken apart by what rules apply where. What `#if 0` leaves out is in neither list.
struct Regions {
  Tokens code;                    ///< the tokens outside preprocessor directives
  std::vector<bool> in_function;  ///< for each of them: is it in a function's body?
  std::vector<Tokens> directives;
};

Regions split(const Tokens& tokens);

/// What a #define puts in for its name; nothing for other directives.
Tokens macro_body(const Tokens& directive);

}  // namespace cuda_filter
