#include "explain/finding.h"

#include <cstdio>
#include <cstring>
#include <map>
#include <vector>

#include "run/text.h"
#include "source/source_code.h"

namespace validate {
namespace {

/// The name that ends before `end`.
std::string name_before(const std::string& text, std::size_t end) {
  std::size_t begin = end;
  while (begin > 0 && in_name(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

/// Where a line goes on behind __launch_bounds__(...); 0: it has none.
std::size_t behind_launch_bounds(const std::string& line) {
  const std::size_t at = line.find("__launch_bounds__"), end = line.find(')', at);
  return at == std::string::npos || end == std::string::npos ? 0 : end + 1;
}

/// The first = of a line that compares nothing; npos: there is none.
std::size_t assignment_in(const std::string& line) {
  std::size_t k = line.find('=');
  while (k != std::string::npos &&
         (line[k + 1] == '=' || (k > 0 && std::strchr("=<>!", line[k - 1])))) {
    k = line.find('=', k + 1);
  }
  return k;
}

/// The array that a line reads, or writes, if there is but one: "f_old" of x = f_old[k].
std::string array_of(const std::string& line, bool writes) {
  // The place that __pipeline_memcpy_async(&ring[...], from, ...) writes is not what it reads.
  if (!writes && line.find("__pipeline_memcpy_async") != std::string::npos) return "";
  const std::size_t assigned = assignment_in(line);
  std::string found;
  for (std::size_t k = line.find('['); k != std::string::npos; k = line.find('[', k + 1)) {
    const std::string name = name_before(line, k);
    if (name.empty() || (assigned != std::string::npos && writes != (k < assigned))) continue;
    if (!found.empty() && found != name) return "";
    found = name;
  }
  return found;
}

/// Whether an index is a thread's place in the launch grid along an axis, plus `first`.
bool comes_of_the_thread(const std::string& code, char index, char axis, int* first) {
  const char a[] = {axis, '\0'};
  const std::string block = std::string("blockIdx.") + a + "*blockDim." + a;
  const std::string other = std::string("blockDim.") + a + "*blockIdx." + a;
  const std::string thread = std::string("threadIdx.") + a, begin = std::string(1, index) + "=";
  for (const std::string& sum :
       {block + "+" + thread, other + "+" + thread, thread + "+" + block, thread + "+" + other}) {
    for (const char* before : {"", "1+"}) {
      const std::string whole = begin + before + sum;
      const std::size_t at = code.find(whole);
      if (at == std::string::npos) continue;
      *first = *before || code.compare(at + whole.size(), 2, "+1") == 0;
      return true;
    }
  }
  return false;
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
  const std::vector<std::string> lines = code_lines(source);
  if (finding.line < 1 || finding.line > static_cast<int>(lines.size())) return scene;
  std::string text;    // of the function
  bool begun = false;  // its name comes on a later line
  for (int k = 0; k < finding.line; ++k) {
    const std::string& line = lines[k];
    const std::size_t begin = behind_launch_bounds(line), bracket = line.find('(', begin);
    const bool begins = begun || (!line.empty() && in_name(line[0]));
    begun = bracket == std::string::npos && (begun || begin > 0);
    const std::string name =
        begins && bracket != std::string::npos ? name_before(line, bracket) : "";
    if (!name.empty() && name.rfind("__", 0) != 0) {
      scene.function = name;
      text.clear();
    }
    text += line + "\n";
  }
  const std::string code = code_only(text);
  scene.thread_per_point = comes_of_the_thread(code, 'i', 'x', &scene.first_i) &&
                           comes_of_the_thread(code, 'j', 'y', &scene.first_j);
  scene.array = array_of(lines[finding.line - 1], finding.what.rfind("writes", 0) == 0);
  if (scene.array.empty()) scene.array = allocated_in(source, finding.allocated_at);
  return scene;
}

}  // namespace validate
