// NVTX 3 is header-only. Its functions are compiled here once: in every step they would take nvcc
// a third of a second or more.
#define NVTX_EXPORT_API
#include <nvtx3/nvToolsExt.h>
