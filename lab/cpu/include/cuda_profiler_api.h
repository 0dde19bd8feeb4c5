#pragma once
// A profiler looks at what lies between these. There is none here.

#include <cuda_runtime.h>

inline cudaError_t cudaProfilerStart() { return cudaSuccess; }
inline cudaError_t cudaProfilerStop() { return cudaSuccess; }
