#include "ladder/machine.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <vector>

#include "run/child.h"
#include "run/steps.h"

namespace validate {
namespace {

std::string cpu_name() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    const std::size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "unknown";
}

std::string driver_version() {
  const ChildResult smi =
      run_child({"nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"}, 30);
  const bool said = smi.started && smi.exit_code == 0 && !smi.output.empty();
  return said ? split(smi.output, '\n').front() : "unknown";
}

/// What the program `bandwidth` prints: lines of a name and its fields, tabs between them.
class BandwidthOutput {
 public:
  explicit BandwidthOutput(const std::string& output) {
    for (const std::string& line : split(output, '\n')) {
      const std::vector<std::string> fields = split(line, '\t');
      if (!fields.empty()) lines_[fields[0]] = fields;
    }
  }
  /// The k-th field behind the name. Throws std::runtime_error where there is none.
  std::string text(const std::string& name, std::size_t k = 1) const {
    const auto found = lines_.find(name);
    if (found != lines_.end() && k < found->second.size()) return found->second[k];
    throw std::runtime_error("the program bandwidth does not say `" + name + "`: build it again");
  }
  double number(const std::string& name, std::size_t k) const {
    return std::strtod(text(name, k).c_str(), nullptr);
  }

 private:
  std::map<std::string, std::vector<std::string>> lines_;
};

}  // namespace

Machine look_at_machine(const std::string& bin) {
  Machine machine;
  machine.cpu = cpu_name();
  const char* backend = std::getenv("BACKEND");
  if (backend && backend == std::string("cpu")) {
    machine.why_not = "BACKEND=cpu asks for none";
    return machine;
  }
  const std::string program = bin + "/bandwidth";
  if (!std::filesystem::exists(program)) {
    machine.why_not = "no GPU was found, or no nvcc";
    return machine;
  }
  const ChildResult measured = run_child({program}, 120);
  if (measured.exit_code != 0) {
    machine.why_not = measured.last_line();
    return machine;
  }
  const BandwidthOutput told(measured.output);
  machine.has_gpu = true;
  machine.gpus = std::max(1, static_cast<int>(told.number("gpus", 1)));
  machine.gpu = told.text("gpu");
  machine.compute_capability = told.text("compute_capability");
  machine.cuda = told.text("cuda_runtime");
  for (const char* way : {"copy_library", "copy_kernel"}) {
    const double median = told.number(way, 1);
    if (median > machine.copy_gb_per_s) {
      machine.copy_gb_per_s = median;
      machine.copy_q1 = told.number(way, 2);
      machine.copy_q3 = told.number(way, 3);
      machine.copy_way = way;
    }
  }
  machine.driver = driver_version();
  return machine;
}

}  // namespace validate
