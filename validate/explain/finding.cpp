#include "explain/finding.h"

#include <regex>

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

/// The array to which a local pointer is set where it is declared: "in" of const float* c = in + 3;
/// the name itself if it is none.
std::string begin_of_pointer(const std::string& code, const std::string& name) {
  const std::regex declared("(?:float|double|auto)\\*?(?:const)?(?:__restrict__)?" + name +
                            "=&?([A-Za-z_]\\w*)[+\\[;,]");
  std::smatch found;
  return std::regex_search(code, found, declared) ? found[1].str() : name;
}

}  // namespace

std::string Finding::where() const {
  const std::string bytes = std::to_string(report.distance) + " bytes ";
  if (report.place == "before") return bytes + "before";
  if (report.place != "past") return "";
  return report.distance == 0 ? "just past the end of" : bytes + "past the end of";
}

int Finding::plain_line() const {
  if (report.access == "writes") return report.has("other_atomic") ? report.line : 0;
  return report.access != "reads" && report.has("other_writes") ? report.other_line : 0;
}

Scene scene_of(const Finding& finding, const std::string& source) {
  Scene scene;
  if (code_at(source, finding.report.line).empty()) return scene;  // there is no such line
  const Function function = function_at(source, finding.report.line);
  if (!function.name.empty()) {
    const std::string code = code_of(function, source);
    scene.function = function.name;
    scene.thread_per_point = comes_of_the_thread(code, 'i', 'x', &scene.first_i) &&
                             comes_of_the_thread(code, 'j', 'y', &scene.first_j);
  }
  scene.array = array_at(source, finding.report.line, finding.report.access == "writes");
  if (!scene.array.empty()) scene.array = begin_of_pointer(code_of(function, source), scene.array);
  if (scene.array.empty()) scene.array = allocated_in(source, finding.report.allocated_line);
  return scene;
}

}  // namespace validate
