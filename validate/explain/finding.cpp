#include "explain/finding.h"

#include <cstdio>
#include <cstring>
#include <map>
#include <regex>

#include "run/text.h"
#include "source/source_code.h"

namespace validate {
namespace {

/// Whether an index is a thread's place in the launch grid along an axis, plus `first`.
bool comes_of_the_thread(const std::string& code, char index, char axis, int* first) {
  const std::string of = std::string("\\.") + axis, thread = "threadIdx" + of;
  const std::string block =
      "(?:blockIdx" + of + "\\*blockDim" + of + "|blockDim" + of + "\\*blockIdx" + of + ")";
  const std::regex place(std::string(1, index) + "=(1\\+)?(?:" + block + "\\+" + thread + "|" +
                         thread + "\\+" + block + ")(\\+1)?");
  std::smatch found;
  if (!std::regex_search(code, found, place)) return false;
  *first = found[1].matched || found[2].matched;
  return true;
}

/// "just behind the end of", "400 bytes before"; "" if it is not beside an allocation.
std::string where_it_was(const cuda_on_cpu::Report& report) {
  const std::string bytes = std::to_string(report.distance) + " bytes ";
  if (report.place == "before") return bytes + "before";
  if (report.place != "past") return "";
  return report.distance == 0 ? "just past the end of" : bytes + "past the end of";
}

}  // namespace

Finding read_finding(const cuda_on_cpu::Report& report) {
  static const std::map<std::string, Finding::Kind> kKinds = {
      {"out_of_bounds", Finding::kOutOfBounds},
      {"unwritten", Finding::kUnwritten},
      {"race", Finding::kRace},
      {"refused", Finding::kRefused},
      {"barrier", Finding::kBarrier},
      {"shuffle", Finding::kBarrier},
      {"shape", Finding::kShape},
      {"host_early", Finding::kHostEarly},
      {"shared_end", Finding::kSharedEnd},
      {"misaligned", Finding::kMisaligned},
      {"freed", Finding::kFreedTwice},
      {"endless_kernel", Finding::kEndless},
      {"endless_launches", Finding::kEndless},
      {"endless_host", Finding::kEndless}};
  Finding finding;
  finding.report = report;
  if (report.line <= 0) return finding;
  const auto kind = kKinds.find(report.kind);
  finding.kind = kind == kKinds.end() ? Finding::kOther : kind->second;
  finding.words = report.words;
  finding.line = report.line;
  finding.allocated_at = report.allocated_line;
  finding.other_line = report.other_line;
  finding.shared = report.has("shared");
  finding.has_place = std::sscanf(report.index.c_str(), "%d,%d", &finding.x, &finding.y) == 2;
  finding.where = where_it_was(report);
  const bool writes = report.access == "writes";
  switch (finding.kind) {
    case Finding::kOutOfBounds:
      finding.what = report.access + " " + finding.where;
      if (finding.where.empty()) finding.kind = Finding::kOther;
      break;
    case Finding::kRace:
      finding.both_write = writes && report.has("other_writes");
      if (writes && report.has("other_atomic")) finding.plain_line = report.line;
      if (!writes && report.access != "reads" && report.has("other_writes")) {
        finding.plain_line = report.other_line;
      }
      [[fallthrough]];
    case Finding::kUnwritten:
      finding.what = report.array;
      break;
    case Finding::kRefused:
    case Finding::kShape:
      finding.what = report.detail;
      break;
    case Finding::kBarrier:
      finding.what = report.kind;
      break;
    case Finding::kHostEarly:
    case Finding::kSharedEnd:
      finding.what = report.access;
      break;
    case Finding::kFreedTwice:
      finding.what = between(report.array, "(", ")");
      break;
    case Finding::kEndless:
      finding.what = report.kind.substr(std::strlen("endless_"));
      break;
    default:
      break;
  }
  return finding;
}

Scene scene_of(const Finding& finding, const std::string& source) {
  Scene scene;
  if (code_at(source, finding.line).empty()) return scene;  // there is no such line
  const Function function = function_at(source, finding.line);
  if (!function.name.empty()) {
    const std::string code = code_of(function, source);
    scene.function = function.name;
    scene.thread_per_point = comes_of_the_thread(code, 'i', 'x', &scene.first_i) &&
                             comes_of_the_thread(code, 'j', 'y', &scene.first_j);
  }
  scene.array = array_at(source, finding.line, finding.what.rfind("writes", 0) == 0);
  if (scene.array.empty()) scene.array = allocated_in(source, finding.allocated_at);
  return scene;
}

}  // namespace validate
