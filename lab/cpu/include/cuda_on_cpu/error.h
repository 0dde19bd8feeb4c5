#pragma once

/// The CUDA that the headers speak like.
#define CUDART_VERSION 13000

/// Numbers as in CUDA. Those that no call here returns are there for programs that name them.
enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInvalidSymbol = 13,
  cudaErrorInvalidPitchValue = 12,
  cudaErrorInvalidMemcpyDirection = 21,
  cudaErrorInsufficientDriver = 35,
  cudaErrorDevicesUnavailable = 46,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorNoKernelImageForDevice = 209,
  cudaErrorUnsupportedPtxVersion = 222,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorIllegalState = 401,
  cudaErrorNotReady = 600,
  cudaErrorIllegalAddress = 700,
  cudaErrorPeerAccessUnsupported = 217,
  cudaErrorPeerAccessAlreadyEnabled = 704,
  cudaErrorMisalignedAddress = 716,
  cudaErrorLaunchFailure = 719,
  cudaErrorCooperativeLaunchTooLarge = 720,
  cudaErrorNotSupported = 801,
  cudaErrorSystemNotReady = 802,
  cudaErrorSystemDriverMismatch = 803,
  cudaErrorStreamCaptureUnsupported = 900,
  cudaErrorStreamCaptureInvalidated = 901,
  cudaErrorStreamCaptureUnmatched = 903,
  cudaErrorStreamCaptureUnjoined = 904,
  cudaErrorGraphExecUpdateFailure = 910,
  cudaErrorUnknown = 999,
};
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
