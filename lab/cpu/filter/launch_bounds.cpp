#include "launch_bounds.h"

namespace cuda_filter {

namespace {

/// The { of the function whose head goes on at `k`; tokens.size() where it is only declared.
std::size_t body_of(const Tokens& tokens, std::size_t k) {
  for (; k < tokens.size(); ++k) {
    if (is(tokens, k, "{")) return k;
    if (is(tokens, k, ";") || closes(tokens[k])) break;
    k = group_end(tokens, k, tokens.size());
  }
  return tokens.size();
}

}  // namespace

void rewrite_launch_bounds(const std::string& source, const Tokens& tokens, Changes* changes) {
  for (std::size_t k = 0; k < tokens.size(); ++k) {
    if (!is(tokens, k, "__launch_bounds__") || !is(tokens, k + 1, "(")) continue;
    const std::size_t open = k + 1, close = match_forward(tokens, open);
    std::size_t end = open + 1;  // of the first argument
    while (end < close && !is(tokens, end, ",")) end = group_end(tokens, end, close) + 1;
    const std::size_t body = body_of(tokens, close + 1);
    if (body >= tokens.size() || end == open + 1) continue;
    const std::size_t begin = tokens[open + 1].offset;
    const std::string most = source.substr(begin, tokens[end - 1].end() - begin);
    // Over several lines it would move those after it.
    if (most.find('\n') != std::string::npos) continue;
    changes->edits.push_back(
        {tokens[body].end(), 0, " ::cuda_on_cpu::check_launch_bounds(" + most + ");"});
  }
}

}  // namespace cuda_filter
