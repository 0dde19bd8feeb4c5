#pragma once

#include <cuda_on_cpu/error.h>

namespace cuda_on_cpu {

/// Notes the error as the last one, with what exactly is wrong, for cudaGetErrorString; returns it.
cudaError_t error(cudaError_t code, const char* format, ...) __attribute__((format(printf, 2, 3)));

/// Whether a call has failed so far.
bool any_error();

}  // namespace cuda_on_cpu
