// Races, and what the lines of both accesses say of them.

#include <algorithm>
#include <regex>
#include <string>

#include "explain/mistakes/run/found.h"
#include "run/steps.h"
#include "run/text.h"
#include "source/source_code.h"

namespace validate {
namespace {

/// "lines 39 and 40"
std::string both_lines(const Report& report) {
  const int line = report.line, other = report.other_line;
  return other > 0 && other != line
             ? format("lines %d and %d", std::min(line, other), std::max(line, other))
             : format("line %d", line);
}

/// What a line first assigns to: "sum" of *sum = part[0], and of sum[k] = part[0].
std::string assigned_in(const std::string& code) {
  static const std::regex assignment(R"((\w+)(\[[^=]*\])?=(?!=))");
  std::smatch found;
  return std::regex_search(code, found, assignment) ? found[1].str() : "";
}

/// Two threads that write the same place of a field, or of the parts of a sum.
Answer two_writers(const Found& found) {
  const Report& report = found.report;
  const std::string code = code_at(found.source, report.line);
  const std::string target = says(code, "+=") ? "" : assigned_in(code);
  const std::string who =
      ": thread (" + report.thread + ") of block (" + report.block + "), and thread (" +
      report.other_thread + ") of " +
      (report.other_block.empty() ? "the same block" : "block (" + report.other_block + ")");
  // Parts of a sum are doubles, in an array or as one.
  const std::string whole = code_only(found.source);
  const bool of_sum =
      !target.empty() && std::regex_search(whole, std::regex("double(\\*(__restrict__)?" + target +
                                                             "\\b|" + target + "\\[)"));
  // Past the last column the next row begins, whose points others have.
  const int i = std::atoi(report.index.c_str());  // blockIdx * blockDim + threadIdx
  const std::string kernel = code_of(function_at(found.source, report.line), found.source);
  if (!of_sum && found.scene.function == found.words.sweep() && i >= found.n - 1 &&
      says(kernel, "inti=blockIdx.x*blockDim.x+threadIdx.x;")) {
    return found.answer("thread_without_a_point")
        .with("kernel", found.scene.function)
        .with("what", "writes")
        .with("named", format("at line %d to the place of another thread's point", report.line))
        .with("thread", format("i = %d", i))
        .with("sweeps", true);
  }
  return found
      .answer(of_sum ? "threads_write_one_place_in_the_sum" : "threads_write_the_same_point")
      .with("target", target.empty() ? "memory" : target)
      .with("loops", says(kernel, "for("))
      .with("four", says(whole, "kThreadsY"))
      .with("blocks", !report.other_block.empty())
      .with("both", report.other_line == report.line ? "" : both_lines(report))
      .with("who", who);
}

/// Two threads that use the same place in global memory, one of them writing: as the lines show.
Answer global_race(const Found& found) {
  const Report& report = found.report;
  static const std::regex followed(R"(\*|\[0\])");  // *sum and sum[0] are one place
  const std::string code = std::regex_replace(code_at(found.source, report.line), followed, "");
  const std::size_t adds = code.find("+="), is = code.find('=');
  const std::string target = assigned_in(code);
  const bool sums = !target.empty() && says(code, target + "=" + target + "+");
  const bool of_one = code.find('[') > std::min(adds, is);
  if (report.line == report.other_line && of_one && (adds != std::string::npos || sums)) {
    // How much is lost depends on how many threads the machine runs at a time.
    const bool of_sum = found.evidence.sum();
    return found.answer("sum_without_an_atomic")
        .with("field_is_right", of_sum)
        .as(of_sum ? Strength::kShape : Strength::kHarmless);
  }
  // In the field what one block reads of another's writes is wrong: as the halo of a tile, say.
  const bool one_block = report.other_block.empty();
  const bool between_blocks = !one_block && found.evidence.field();
  const bool one_line = report.other_line == 0 || report.other_line == report.line;
  const bool levels = found.evidence.patient.step >= kFirstCycleStep;
  const bool fence = says(report.detail, "__threadfence");
  return found
      .answer(fence                                                     ? "race_without_a_fence"
              : !levels                                                 ? "race_in_global_memory"
              : one_line || (one_block && report.has("several_blocks")) ? "race_of_a_sweep_in_place"
                                                                        : "race_between_levels")
      .with("one_block", one_block)
      .with("one_line", one_line)
      .with("adds", one_line && adds != std::string::npos)
      .with("whole_grid", says(code_only(found.source), "cooperative_groups"))
      .with("line", report.line)
      .with("lines", both_lines(report))
      .as(between_blocks ? Strength::kForbidden : Strength::kHarmless);
}

/// A thread that writes the sum, while others add to it by an atomic.
Answer plain_write(const Found& found) {
  const Report& report = found.report;
  const int line = found.finding.plain_line();
  const std::string code = code_at(found.source, line);
  Answer answer("sum_is_overwritten");
  answer.with("field_is_right", found.evidence.sum() != nullptr);
  answer.with("line", line).with("adds", line == report.line ? report.other_line : report.line);
  for (const char* zero : {"=0;", "=0.0;", "=0.;"}) {
    if (says(code, zero)) answer.with("zero", true);
  }
  return answer;
}

/// Threads that share a sum in shared memory, and do not wait for one another.
Answer shared_sum(const Found& found) {
  const Report& report = found.report;
  const bool of_array = says(report.array, "[");
  const std::string code = code_at(found.source, report.line);
  const bool of_cub =
      found.words.has(kBlockSum) && !of_array &&
      (says(report.array, "storage") || says(code, ").Sum(") || says(code, ").Reduce("));
  if (of_array && found.finding.both_write() && report.other_line == report.line &&
      !says(code, "+=")) {
    return found.answer("shared_place_is_written_twice")
        .with("place", report.array)
        .with("lines", both_lines(report));
  }
  const std::string &one = report.thread, &other = report.other_thread;  // x,y,z
  const bool one_row = one.substr(one.find(',') + 1) == other.substr(other.find(',') + 1);
  // In a tree a thread adds what is in another place of the same array.
  const std::string array = report.array.substr(0, report.array.find('['));
  const bool tree = of_array && code.find(array + "[") != code.rfind(array + "[");
  const bool adds = !of_cub && !tree && report.line == report.other_line && says(code, "+=");
  return found.answer("shared_sum_without_a_barrier")
      .with("warp", one_row && std::atoi(one.c_str()) / 32 == std::atoi(other.c_str()) / 32)
      .with("sum", report.array.empty() ? "shared memory" : report.array)
      .with("lines", both_lines(report))
      .with("adds", adds)
      .with("of_cub", of_cub);
}

}  // namespace

Answer answer_of_race(const Found& found) {
  const Finding& finding = found.finding;
  const std::string& array = found.report.array;
  const std::string what = array.empty() ? "shared memory" : array;
  if (!finding.shared()) {
    if (finding.both_write()) return two_writers(found);
    if (finding.plain_line() == 0) return global_race(found);
    return plain_write(found).as(Strength::kForbidden);
  }
  if (found.evidence.sum()) return shared_sum(found).as(Strength::kShape);
  if (!finding.both_write()) {
    const std::string code = code_at(found.source, found.report.line);
    const std::size_t adds = code.find("+=");
    const bool one_line = found.report.other_line == found.report.line;
    if (one_line && adds != std::string::npos && code.find('[') > adds) {
      return found.answer("sum_without_an_atomic").with("field_is_right", false);
    }
    const auto copies = [&](int line) {
      return says(code_at(found.source, line), "_memcpy_async");
    };
    return found.answer("race_in_shared_memory")
        .with("async", copies(found.report.line) || copies(found.report.other_line))
        .with("place", what)
        .with("lines", both_lines(found.report));
  }
  const std::string code = code_at(found.source, found.report.line);
  return found.answer("shared_place_is_written_twice")
      .with("place", what)
      .with("lines", both_lines(found.report))
      .with("of_cub", array.find('[') == std::string::npos && says(code, ".Sum("));
}

}  // namespace validate
