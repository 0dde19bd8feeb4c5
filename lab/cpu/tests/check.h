#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

/// Ends the program with one line and exit code 3 if a CUDA call failed.
#define CUDA_CHECK(call) check_cuda((call), #call, __FILE__, __LINE__)

inline void check_cuda(cudaError_t error, const char* call, const char* file, int line) {
  if (error == cudaSuccess) return;
  const char* slash = std::strrchr(file, '/');
  std::fprintf(stderr, "%s:%d: %s: %s (%s)\n", slash ? slash + 1 : file, line, call,
               cudaGetErrorString(error), cudaGetErrorName(error));
  std::exit(3);
}
