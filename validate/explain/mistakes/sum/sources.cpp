// What the program's text shows of a sum.

#include <algorithm>
#include <string>
#include <vector>

#include "explain/looks/sum_look.h"
#include "explain/mistakes/families.h"
#include "source/source_code.h"

namespace validate {
namespace {

bool is_fill(const Queued& work) {
  return !work.launch && work.call.find("Memset") != std::string::npos && !work.arguments.empty();
}

bool is_copy_to_host(const Queued& work) {
  return !work.launch && work.call.find("Memcpy") != std::string::npos &&
         work.arguments.size() > 3 && work.arguments[3] == "cudaMemcpyDeviceToHost";
}

}  // namespace

Answer half_a_sum(const Evidence& evidence) {
  const std::string code = code_only(evidence.source);
  for (const Queued& work : queued_in(evidence.source)) {
    const bool fill = work.call.find("Memset") != std::string::npos;
    if (work.launch || work.arguments.size() < 3) continue;
    const std::string &sum = work.arguments[fill ? 0 : 1], &bytes = work.arguments[2];
    const bool none = fill && bytes == "0";
    const bool four = bytes == "sizeof(float)" && code.find("float*" + sum) == std::string::npos;
    if (!none && !four) continue;
    return Answer("four_bytes_of_the_sum")
        .with("line", work.line)
        .with("none", none)
        .with("does", fill ? "sets" : "copies")
        .with("sum", sum)
        .with("field_is_right", evidence.sum() != nullptr);
  }
  return {};
}

Answer order_of_sum(const Evidence& evidence) {
  const std::vector<Queued> all = queued_in(evidence.source);
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (!is_fill(all[k])) continue;
    const std::string& sum = all[k].arguments[0];
    const Function function = function_at(evidence.source, all[k].line);
    const auto beside = [&](std::size_t at) {
      return at < all.size() && function.first_line <= all[at].line &&
             all[at].line <= function.last_line;
    };
    const auto adds = [&](std::size_t at) {
      const std::vector<std::string>* given = beside(at) ? &all[at].arguments : nullptr;
      return given && all[at].launch && std::count(given->begin(), given->end(), sum) > 0;
    };
    // A launch that comes right after the two is what comes too late, and not the copy.
    const bool copied = beside(k + 1) && is_copy_to_host(all[k + 1]) &&
                        all[k + 1].arguments[1] == sum && !adds(k + 2);
    if (!copied && (k == 0 || !adds(k - 1))) continue;
    return Answer("sum_is_reset_too_early")
        .with("line", all[k].line)
        .with("copied", copied)
        .with("other", all[copied ? k + 1 : k - 1].line)
        .with("sum", sum);
  }
  return {};
}

}  // namespace validate
