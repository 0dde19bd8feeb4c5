#include "rewrite.h"

namespace cuda_filter {

/// Whether the declaration that `k` is part of, outside any function, is one of variables of which
/// each has its place in the GPU's memory: no function, no constant of both sides.
static bool declares_a_variable(const Tokens& code, std::size_t k) {
  for (k = statement_start(code, k); k < code.size(); k = group_end(code, k, code.size()) + 1) {
    for (const char* other :
         {"const", "constexpr", "__managed__", "template", "struct", "class", "("}) {
      if (is(code, k, other)) return false;
    }
    if (is(code, k, "__align__") || is(code, k, "alignas")) ++k;
    if (is(code, k, "=") || is(code, k, "{") || is(code, k, "[") || is(code, k, ";")) return true;
  }
  return false;
}

void rewrite_device_variables(const Regions& regions, Changes* changes) {
  for (std::size_t k = 0; k < regions.code.size(); ++k) {
    const Token& word = regions.code[k];
    if (regions.in_function[k] || (word.text != "__device__" && word.text != "__constant__"))
      continue;
    if (!declares_a_variable(regions.code, k)) continue;
    changes->edits.push_back({word.offset, word.text.size(), "CUDA_ON_CPU_VARIABLE"});
  }
}

}  // namespace cuda_filter
