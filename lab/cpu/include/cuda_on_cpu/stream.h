#pragma once
// Streams, events and graphs. Work is only queued; it runs when the host waits for it. So a missing
// cudaDeviceSynchronize shows every time.

#include <cuda_on_cpu/error.h>
#include <cuda_on_cpu/where.h>

#include <cstddef>
#include <functional>

namespace cuda_on_cpu {
struct Stream;
struct Event;
struct Graph;
struct GraphExec;
}  // namespace cuda_on_cpu

using cudaStream_t = cuda_on_cpu::Stream*;
using cudaEvent_t = cuda_on_cpu::Event*;
using cudaGraph_t = cuda_on_cpu::Graph*;
using cudaGraphExec_t = cuda_on_cpu::GraphExec*;
using cudaGraphNode_t = void*;

enum : unsigned { cudaStreamDefault = 0, cudaStreamNonBlocking = 1 };
enum : unsigned {
  cudaEventDefault = 0,
  cudaEventBlockingSync = 1,
  cudaEventDisableTiming = 2,
};
enum : unsigned { cudaEventWaitDefault = 0 };
enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal = 0,
  cudaStreamCaptureModeThreadLocal = 1,
  cudaStreamCaptureModeRelaxed = 2,
};

/// Runs all that is queued.
cudaError_t cudaDeviceSynchronize();

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags, CUDA_ON_CPU_CALLER);
inline cudaError_t cudaStreamCreate(cudaStream_t* stream, CUDA_ON_CPU_CALLER) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault, where);
}
inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int,
                                                CUDA_ON_CPU_CALLER) {
  return cudaStreamCreateWithFlags(stream, flags, where);
}
inline cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = *greatest = 0;
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream, CUDA_ON_CPU_CALLER);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
/// cudaErrorNotReady as long as the stream has work to do. How many questions that takes depends on
/// LAB_CPU_ORDER; a program that asks until it is done ends.
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags, CUDA_ON_CPU_CALLER);
inline cudaError_t cudaEventCreate(cudaEvent_t* event, CUDA_ON_CPU_CALLER) {
  return cudaEventCreateWithFlags(event, cudaEventDefault, where);
}
cudaError_t cudaEventDestroy(cudaEvent_t event, CUDA_ON_CPU_CALLER);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
/// The same of the work before the event.
cudaError_t cudaEventQuery(cudaEvent_t event);
/// Milliseconds of this CPU, which say nothing about a GPU.
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end);

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph, CUDA_ON_CPU_CALLER);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                 unsigned long long flags = 0, CUDA_ON_CPU_CALLER);
inline cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                                 unsigned long long flags = 0, CUDA_ON_CPU_CALLER) {
  return cudaGraphInstantiate(exec, graph, flags, where);
}
/// The form of CUDA 11; nothing is put into the last three.
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, cudaGraphNode_t*,
                                        char*, std::size_t, CUDA_ON_CPU_CALLER) {
  return cudaGraphInstantiate(exec, graph, 0, where);
}
enum cudaGraphExecUpdateResult {
  cudaGraphExecUpdateSuccess = 0,
  cudaGraphExecUpdateErrorTopologyChanged = 2,
};
/// The nodes to blame are not reported.
struct cudaGraphExecUpdateResultInfo {
  cudaGraphExecUpdateResult result;
  cudaGraphNode_t errorNode, errorFromNode;
};
/// The executable graph gets the arguments of another one's nodes, if these are as many, and of the
/// same kinds, in the same order.
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* info);
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
/// What an upload makes ready is ready here.
inline cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaGraphDestroy(cudaGraph_t graph, CUDA_ON_CPU_CALLER);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec, CUDA_ON_CPU_CALLER);

namespace cuda_on_cpu {

// For a library that moves data between GPUs, and has another one in its place here.

/// Queues such work, `what` it is ("ncclSend", say, a constant), one piece after another.
/// While it runs all memory is open.
cudaError_t enqueue_beside(cudaStream_t stream, const char* what, std::function<void()> work);
/// The host waits for others, and its GPU goes on meanwhile: runs a piece of work that may start
/// now. false: there is none, or the host waits in the middle of one.
bool go_on();
/// Whether a GPU may use these bytes, as the `what` of a call; if not, says why.
cudaError_t check_device_memory(const void* p, std::size_t bytes, const char* what);
/// The work has written them.
void written(void* p, std::size_t bytes);
/// For the table of LAB_TRACE_TSV: this many bytes were moved by a call of that name.
void note_library(const char* name, std::size_t bytes);

}  // namespace cuda_on_cpu
