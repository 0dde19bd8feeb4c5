#pragma once
// The C++ face of NVTX ranges where there is no CUDA Toolkit; see nvToolsExt.h beside this.

#include <nvtx3/nvToolsExt.h>

namespace nvtx3 {

/// A range from here to the end of the block.
class scoped_range {
 public:
  explicit scoped_range(const char* name) { nvtxRangePushA(name); }
  ~scoped_range() { nvtxRangePop(); }
  scoped_range(const scoped_range&) = delete;
  scoped_range& operator=(const scoped_range&) = delete;
};

}  // namespace nvtx3
