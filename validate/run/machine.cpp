#include "run/machine.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
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

}  // namespace

Machine look_at_machine(const std::string& bandwidth) {
  Machine machine;
  machine.cpu = cpu_name();
  const char* backend = std::getenv("BACKEND");
  if (backend && backend == std::string("cpu")) {
    machine.why_not = "BACKEND=cpu asks for none";
    return machine;
  }
  if (!std::filesystem::exists(bandwidth)) {
    machine.why_not = "no GPU was found, or no nvcc";
    return machine;
  }
  const ChildResult measured = run_child({bandwidth}, 120);
  if (measured.exit_code != 0) {
    machine.why_not = measured.last_line();
    return machine;
  }
  std::map<std::string, std::vector<std::string>> lines;  // by the first of their fields
  for (const std::string& line : split(measured.output, '\n')) {
    const std::vector<std::string> fields = split(line, '\t');
    if (!fields.empty()) lines[fields[0]] = fields;
  }
  const auto text = [&lines](const char* name, std::size_t k = 1) {
    return k < lines[name].size() ? lines[name][k] : "";
  };
  const auto number = [&text](const char* name, std::size_t k = 1) {
    return std::strtod(text(name, k).c_str(), nullptr);
  };
  machine.has_gpu = true;
  machine.gpus = std::max(1, static_cast<int>(number("gpus")));
  machine.gpu = text("gpu");
  machine.compute_capability = text("compute_capability");
  machine.cuda = text("cuda_runtime");
  machine.driver = text("driver");
  machine.l2_bytes = number("l2_bytes");
  for (const char* way : {"copy_library", "copy_float4"}) {
    const double median = number(way);
    if (median > machine.copy_gb_per_s) {
      machine.copy_gb_per_s = median;
      machine.copy_q1 = number(way, 2);
      machine.copy_q3 = number(way, 3);
      machine.copy_way = way;
    }
  }
  return machine;
}

}  // namespace validate
