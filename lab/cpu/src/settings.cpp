#include "settings.h"

#include <cstdlib>
#include <string>
#include <thread>

#include "report.h"

namespace cuda_on_cpu {
namespace {

std::uint64_t read_number(const char* name, std::uint64_t low, std::uint64_t high,
                          std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  if (!text || !*text) return otherwise;
  char* end = nullptr;
  const unsigned long long value = std::strtoull(text, &end, 10);
  if (*end != '\0' || *text == '-' || value < low || value > high) {
    fail("%s=%s: must be a whole number from %llu to %llu", name, text,
         static_cast<unsigned long long>(low), static_cast<unsigned long long>(high));
  }
  return value;
}

Order read_order() {
  const char* text = std::getenv("LAB_CPU_ORDER");
  const std::string order = text && *text ? text : "forward";
  if (order == "forward") return Order::forward;
  if (order == "reverse") return Order::reverse;
  if (order == "shuffled") return Order::shuffled;
  fail("LAB_CPU_ORDER=%s: must be forward, reverse or shuffled", text);
}

Settings read_settings() {
  Settings settings;
  settings.order = read_order();
  settings.seed = read_number("LAB_CPU_SEED", 0, 1'000'000'000, 1);
#ifdef CUDA_ON_CPU_WATCHED
  settings.workers = 1;  // what is watched runs in one order, so that every report can be repeated
#else
  const unsigned cores = std::thread::hardware_concurrency();
  settings.workers =
      static_cast<int>(read_number("LAB_CPU_WORKERS", 1, 1024, cores > 0 ? cores : 1));
#endif
  settings.multiprocessors = static_cast<int>(read_number("LAB_CPU_MULTIPROCESSORS", 1, 1024, 4));
  settings.leaks = read_number("LAB_CPU_LEAKS", 0, 1, 0) == 1;
  settings.strict = read_number("LAB_CPU_STRICT", 0, 1, 0) == 1;
  return settings;
}

}  // namespace

const Settings& settings() {
  static const Settings settings = read_settings();
  return settings;
}

}  // namespace cuda_on_cpu
