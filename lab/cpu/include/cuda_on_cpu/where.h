#pragma once

namespace cuda_on_cpu {

/// A line of the program. As a last parameter with the default `Where::here()` it is the
/// line of the call, so that every message can name one.
struct Where {
  const char* file = "";
  int line = 0;

  static constexpr Where here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
  bool operator==(const Where&) const = default;
};

}  // namespace cuda_on_cpu
