// NVTX ranges and marks, of C and of C++. Without a profiler (on the CPU: LAB_NVTX=1) nothing
// shows.

#include "check.h"

#include <nvtx3/nvToolsExt.h>

#include <nvtx3/nvtx3.hpp>
#include <string>

void function_with_range() { NVTX3_FUNC_RANGE(); }

int main() {
  nvtxRangePushA("outer");
  nvtxRangePush("inner");
  nvtxRangePop();
  nvtxRangePop();
  nvtxMarkA("a mark");
  nvtxMark("another mark");

  // These may overlap.
  const nvtxRangeId_t first = nvtxRangeStartA("first");
  const nvtxRangeId_t second = nvtxRangeStartA("second");
  nvtxRangeEnd(first);
  nvtxRangeEnd(second);

  for (int k = 0; k < 3; ++k) {
    nvtx3::scoped_range range{"in a loop"};
    const nvtx3::scoped_range nested(std::string("number ") + std::to_string(k));
    function_with_range();
  }
  nvtx3::scoped_range to_the_end("to the end");
  nvtx3::scoped_range coloured{"coloured", nvtx3::rgb{127, 255, 0}};
  nvtx3::mark("a mark of C++");
  return result();
}
