#pragma once

/// The CUDA that the headers speak like.
#define CUDART_VERSION 13000

// Numbers and words as in CUDA. Those that no call here returns are there for programs that name
// them.
// clang-format off
#define CUDA_ON_CPU_ERRORS(E) \
  E(cudaSuccess, 0, "no error") \
  E(cudaErrorInvalidValue, 1, "invalid argument") \
  E(cudaErrorMemoryAllocation, 2, "out of memory") \
  E(cudaErrorInvalidConfiguration, 9, "invalid configuration argument") \
  E(cudaErrorInvalidPitchValue, 12, "invalid pitch argument") \
  E(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy") \
  E(cudaErrorInsufficientDriver, 35, \
    "CUDA driver version is insufficient for CUDA runtime version") \
  E(cudaErrorDevicesUnavailable, 46, "CUDA-capable device(s) is/are busy or unavailable") \
  E(cudaErrorNoDevice, 100, "no CUDA-capable device is detected") \
  E(cudaErrorInvalidDevice, 101, "invalid device ordinal") \
  E(cudaErrorNoKernelImageForDevice, 209, \
    "no kernel image is available for execution on the device") \
  E(cudaErrorUnsupportedPtxVersion, 222, \
    "the provided PTX was compiled with an unsupported toolchain.") \
  E(cudaErrorInvalidResourceHandle, 400, "invalid resource handle") \
  E(cudaErrorIllegalState, 401, "the operation cannot be performed in the present state") \
  E(cudaErrorNotReady, 600, "device not ready") \
  E(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered") \
  E(cudaErrorMisalignedAddress, 716, "misaligned address") \
  E(cudaErrorLaunchFailure, 719, "unspecified launch failure") \
  E(cudaErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch") \
  E(cudaErrorSystemNotReady, 802, "system not yet initialized") \
  E(cudaErrorSystemDriverMismatch, 803, \
    "system has unsupported display driver / cuda driver combination") \
  E(cudaErrorStreamCaptureUnsupported, 900, "operation not permitted when stream is capturing") \
  E(cudaErrorStreamCaptureInvalidated, 901, \
    "operation failed due to a previous error during capture") \
  E(cudaErrorStreamCaptureUnmatched, 903, \
    "capture was not ended in the same stream as it began") \
  E(cudaErrorStreamCaptureUnjoined, 904, "capturing stream has unjoined work") \
  E(cudaErrorStreamCaptureIsolation, 905, \
    "dependency created on uncaptured work in another stream") \
  E(cudaErrorGraphExecUpdateFailure, 910, \
    "the graph update was not performed because it included changes which violated " \
    "constraints specific to instantiated graph update") \
  E(cudaErrorUnknown, 999, "unknown error")
// clang-format on
#define CUDA_ON_CPU_ERROR(name, number, words) name = number,
enum cudaError_t { CUDA_ON_CPU_ERRORS(CUDA_ON_CPU_ERROR) };
#undef CUDA_ON_CPU_ERROR
using cudaError = cudaError_t;

/// The last error of a call or a launch; GetLastError also forgets it.
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();

/// "cudaErrorInvalidValue"
const char* cudaGetErrorName(cudaError_t error);

namespace cuda_on_cpu {
struct Report;
/// What is wrong with the call that came to this error last; null: no more than the error says.
const Report* report_of(cudaError_t error);
}  // namespace cuda_on_cpu

/// CUDA's words for the error; for the error that came last, with what was wrong in brackets.
const char* cudaGetErrorString(cudaError_t error);
