#pragma once

#include <cuda_runtime_api.h>
#include <lab/exit_codes.h>
#include <lab/short_path.h>

/// Ends the program with one clear line if a CUDA call failed: which call, at which line, why.
///
///   CUDA_CHECK(cudaMallocManaged(&f, bytes));
///
/// A kernel launch returns nothing, so it takes two: the launch itself, and the kernel's end.
///
///   my_kernel<<<grid, block>>>(...);
///   CUDA_CHECK(cudaGetLastError());        // was the launch accepted?
///   CUDA_CHECK(cudaDeviceSynchronize());   // did the kernel run to its end?
#define CUDA_CHECK(call) ::lab::check_cuda((call), #call, __FILE__, __LINE__)

namespace lab {

/// Whether the CPU runs the kernels, in a GPU's place.
#ifdef __CUDA_ON_CPU__
constexpr bool kOnCpu = true;
using cuda_on_cpu::report_of;
#else
constexpr bool kOnCpu = false;
inline const Report* report_of(cudaError_t) { return nullptr; }
#endif

/// What CUDA_CHECK calls. Exit code 77 if there is no usable GPU, 5 if memory ran out,
/// else 3.
inline void check_cuda(cudaError_t error, const char* call, const char* file, int line) {
  if (error == cudaSuccess) return;
  file = short_path(file);
  const char* name = cudaGetErrorName(error);
  const FailedCall failed = {file, line, call, name, report_of(error)};
  const char* text = cudaGetErrorString(error);
  int driver = 0;
  switch (error) {
    case cudaErrorInsufficientDriver:
      // The runtime also says "insufficient driver" if there is none at all.
      if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) {
        fail(kExitNoGpu, "no NVIDIA driver found: this program needs an NVIDIA GPU");
      }
      fail(kExitNoGpu,
           "the driver is too old: it serves CUDA %d.%d, but this program was built with CUDA "
           "%d.%d (%s:%d)",
           driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10,
           file, line);
    case cudaErrorDevicesUnavailable:
      fail(kExitNoGpu,
           "no usable GPU: another program has it to itself, or it was set to a mode that refuses "
           "this one (%s, %s:%d): see nvidia-smi",
           name, file, line);
    case cudaErrorNoDevice:
    case cudaErrorSystemNotReady:
    case cudaErrorSystemDriverMismatch:
      fail(kExitNoGpu, "no usable GPU: %s (%s, %s:%d)", text, name, file, line);
    case cudaErrorMemoryAllocation:
      fail(kExitDoesNotFit, failed, "%s: %s (%s): take a smaller --n", call, text, name);
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
      fail(kExitCudaError,
           "%s:%d: this program contains no code for this GPU (%s): build it on a node with that "
           "GPU, or set CUDAARCHS",
           file, line, name);
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorLaunchFailure:
      fail(kExitCudaError, failed, "%s: %s (%s): `make sanitize` names the line", call, text, name);
    default:
      fail(kExitCudaError, failed, "%s: %s (%s)", call, text, name);
  }
}

}  // namespace lab
