#pragma once

#include <cuda_on_cpu/error.h>
#include <cuda_on_cpu/report.h>
#include <cuda_on_cpu/where.h>

#include <string>

#include "report.h"

namespace cuda_on_cpu {

/// Notes the error as the last one, with what exactly is wrong, for cudaGetErrorString; returns it.
/// cudaErrorNotReady never becomes the last error.
cudaError_t note_error(cudaError_t code, const std::string& what);
cudaError_t error(cudaError_t code, const auto&... what) {
  return note_error(code, joined(what...));
}

/// Why the call failed that `error` has just noted, for its report: "room", of `what` (the source),
/// with this many bytes. Returns `code`.
cudaError_t because(const char* kind, cudaError_t code, const char* what = "", long bytes = 0);

/// The same of a launch that is refused: whoever asks for the last error hears of it.
cudaError_t refuse_launch(cudaError_t code, Where where);

/// Of a launch that was refused, if its error was not asked for since, with the reason as its
/// detail. It has no kind if there is none.
Report refused_launch();

/// Whether a call has failed so far.
bool any_error();

}  // namespace cuda_on_cpu
