// NVTX 3 is header-only. Its functions are compiled here once: in every step they would take nvcc
// half a second.
#define NVTX_EXPORT_API
#include <nvtx3/nvToolsExt.h>
