#pragma once

#include <cuda_on_cpu/error.h>
#include <cuda_on_cpu/report.h>
#include <cuda_on_cpu/where.h>

#include <utility>

#include "report.h"

namespace cuda_on_cpu {

/// Notes the error as the last one, with what exactly is wrong, for cudaGetErrorString; returns it.
/// cudaErrorNotReady never becomes the last error. The report says more than that a call failed:
/// {.kind = "room", .place = "source", .bytes = 40}.
cudaError_t note_error(cudaError_t code, Report report);
cudaError_t error_because(Report report, cudaError_t code, const auto&... what) {
  report.detail = joined(what...);
  return note_error(code, std::move(report));
}
cudaError_t error(cudaError_t code, const auto&... what) {
  return error_because({"call"}, code, what...);
}

/// The same of a launch that is refused: whoever asks for the last error hears of it.
cudaError_t refuse_launch(cudaError_t code, Where where);

/// Of a launch that was refused, if its error was not asked for since, with the reason as its
/// detail. It has no kind if there is none.
Report refused_launch();

bool any_error();

}  // namespace cuda_on_cpu
