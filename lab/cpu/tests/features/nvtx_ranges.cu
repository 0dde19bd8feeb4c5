// NVTX ranges, of C and of C++. Without a profiler (on the CPU: LAB_TRACE_TSV) nothing
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

  // With a colour, as NVIDIA's own examples push them.
  nvtxEventAttributes_t event = {};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.colorType = NVTX_COLOR_ARGB;
  event.color = 0xff00ff00;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = "with attributes";
  nvtxRangePushEx(&event);
  nvtxRangePop();

  for (int k = 0; k < 3; ++k) {
    nvtx3::scoped_range range{"in a loop"};
    const nvtx3::scoped_range nested(std::string("number ") + std::to_string(k));
    function_with_range();
  }
  nvtx3::scoped_range to_the_end("to the end");
  nvtx3::scoped_range coloured{"coloured", nvtx3::rgb{127, 255, 0}};
  return result();
}
