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

bool adds_to(const Queued& work, const std::string& sum) {
  return work.launch && std::count(work.arguments.begin(), work.arguments.end(), sum) > 0;
}

/// Whether what is queued at one line, and later at another, is queued by one function.
bool in_one_function(const std::vector<std::string>& lines, int from, int to) {
  return std::none_of(lines.begin() + from, lines.begin() + std::max(from, to - 1),
                      [](const std::string& line) { return line.rfind('}', 0) == 0; });
}

}  // namespace

Answer half_a_sum(const Evidence& evidence) {
  const std::string code = code_only(evidence.source);
  for (const Queued& work : queued_in(evidence.source)) {
    const bool fill = work.call.find("Memset") != std::string::npos;
    if (work.launch || work.arguments.size() < 3) continue;
    const std::string &sum = work.arguments[fill ? 0 : 1], &bytes = work.arguments[2];
    if (fill && bytes == "0") {
      return Answer("no_bytes_of_the_sum").with("line", work.line).with("sum", sum);
    }
    if (bytes != "sizeof(float)") continue;
    if (code.find("float*" + sum) != std::string::npos) continue;
    return Answer("four_bytes_of_the_sum")
        .with("line", work.line)
        .with("does", fill ? "sets" : "copies")
        .with("sum", sum)
        .with("field_is_right", evidence.sum() != nullptr);
  }
  return {};
}

Answer order_of_sum(const Evidence& evidence) {
  const std::vector<Queued> all = queued_in(evidence.source);
  const std::vector<std::string> lines = code_lines(evidence.source);
  const auto one_function = [&](const Queued& from, const Queued& to) {
    return in_one_function(lines, from.line, to.line);
  };
  const auto answer = [](const char* rule, const Queued& first, const Queued& second,
                         const std::string& sum) {
    return Answer(rule).with("line", first.line).with("other", second.line).with("sum", sum);
  };
  for (std::size_t k = 0; k + 1 < all.size(); ++k) {
    const Queued &first = all[k], &second = all[k + 1];
    if (second.line <= first.line || !one_function(first, second)) continue;
    const bool of_kernels =
        is_fill(first) && std::any_of(all.begin(), all.begin() + k, [](const Queued& work) {
          return work.launch && work.arguments.size() > 2;
        });
    // A launch that comes right after the two is what comes too late, and not the copy.
    const bool launched_after = k + 2 < all.size() && all[k + 2].line > second.line &&
                                one_function(second, all[k + 2]) &&
                                adds_to(all[k + 2], first.arguments[0]);
    if (of_kernels && !launched_after && is_copy_to_host(second) &&
        second.arguments[1] == first.arguments[0]) {
      return answer("sum_is_set_back_before_its_copy", first, second, first.arguments[0]);
    }
    const bool nothing_before =
        k == 0 || all[k - 1].line > first.line || !one_function(all[k - 1], first);
    if (is_fill(second) && adds_to(first, second.arguments[0]) && nothing_before) {
      return answer("sum_is_set_back_after_the_launch", second, first, second.arguments[0]);
    }
  }
  return {};
}

Answer lost_local(const Evidence& evidence) {
  const LostLocal lost = lost_local_in(evidence.source);
  if (lost.name.empty()) return {};
  return Answer("address_of_a_local_variable")
      .with("line", lost.line)
      .with("name", lost.name)
      .with("function", lost.function)
      .with("captured", lost.captured)
      .with("field_is_right", evidence.sum() != nullptr);
}

}  // namespace validate
