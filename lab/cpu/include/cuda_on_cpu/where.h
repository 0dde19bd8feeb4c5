#pragma once

namespace cuda_on_cpu {

/// A line of the program.
struct Where {
  const char* file = "";
  int line = 0;

  static constexpr Where here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
  bool operator==(const Where& other) const { return file == other.file && line == other.line; }
  bool operator<(const Where& other) const {
    return file != other.file ? file < other.file : line < other.line;
  }
};

}  // namespace cuda_on_cpu

/// The last parameter of a function: the line of the call, so that every message can name one.
#define CUDA_ON_CPU_CALLER cuda_on_cpu::Where where = cuda_on_cpu::Where::here()
