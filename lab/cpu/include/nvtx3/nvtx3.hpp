#pragma once
// NVTX for C++ where there is no CUDA Toolkit: scoped ranges, on top of nvToolsExt.h.
// Colours and the like are taken, and of no use.

#include <nvtx3/nvToolsExt.h>

#include <string>

namespace nvtx3 {

struct rgb {
  constexpr rgb(unsigned char, unsigned char, unsigned char) {}
};

/// A range from here to the end of the block that it is declared in.
class scoped_range {
 public:
  scoped_range() : scoped_range("") {}
  template <class... Attributes>
  explicit scoped_range(const char* name, const Attributes&...) {
    nvtxRangePushA(name);
  }
  template <class... Attributes>
  explicit scoped_range(const std::string& name, const Attributes&...)
      : scoped_range(name.c_str()) {}
  ~scoped_range() { nvtxRangePop(); }
  scoped_range(const scoped_range&) = delete;
  scoped_range& operator=(const scoped_range&) = delete;
};

}  // namespace nvtx3

/// As a function's first line: a range of the function's name.
#define NVTX3_FUNC_RANGE() const ::nvtx3::scoped_range nvtx3_func_range(__func__)
