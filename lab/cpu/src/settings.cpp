#include "settings.h"

#include <cstdlib>
#include <sstream>

#include <cuda_on_cpu/machine.h>

#include "report.h"
#include "watch/watcher.h"

namespace cuda_on_cpu {
namespace {

int read_number(const char* name, int low, int high, int otherwise) {
  const char* text = std::getenv(name);
  if (!text || !*text) return otherwise;
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  if (*end != '\0' || value < low || value > high) {
    fail({"other"}, name, "=", text, ": must be a whole number from ", low, " to ", high);
  }
  return static_cast<int>(value);
}

Order read_order() {
  const char* text = std::getenv("LAB_CPU_ORDER");
  const std::string order = text && *text ? text : "forward";
  if (order == "forward") return Order::forward;
  if (order == "reverse") return Order::reverse;
  if (order == "shuffled") return Order::shuffled;
  fail({"other"}, "LAB_CPU_ORDER=", order, ": must be forward, reverse or shuffled");
}

Settings::Repair read_repair() {
  const char* text = std::getenv("LAB_CPU_REPAIR");
  std::istringstream words(text ? text : "");
  Settings::Repair repair;
  std::getline(words, repair.kind, ',');
  for (std::string line; std::getline(words, line, ',');) repair.lines.insert(std::stoi(line));
  return repair;
}

}  // namespace

const Settings& settings() {
  static const Settings settings = {
      .order = read_order(),
      // What is watched runs in one order, so that every report can be repeated.
      .workers = watcher() ? 1 : read_number("LAB_CPU_WORKERS", 1, 1024, usable_cores()),
      .multiprocessors = read_number("LAB_CPU_MULTIPROCESSORS", 1, 1024, 4),
      .strict = read_number("LAB_CPU_STRICT", 0, 1, 0) == 1,
      .repair = read_repair()};
  return settings;
}

}  // namespace cuda_on_cpu
