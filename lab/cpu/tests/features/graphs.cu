// Graphs: captured from a stream, or from one that forks and joins again; launched many times.

#include "check.h"

__global__ void add_kernel(int* x, int value) { x[threadIdx.x] += value; }
__global__ void swap_kernel(int* x, int* y) {
  const int k = threadIdx.x, old = x[k];
  x[k] = y[k];
  y[k] = old;
}
__global__ void sum_kernel(const int* a, const int* b, int* out) {
  out[threadIdx.x] += a[threadIdx.x] * b[threadIdx.x];
}

constexpr int kCount = 64;

void one_stream() {
  Array<int> x(kCount), y(kCount);
  cudaStream_t stream;
  CUDA(cudaStreamCreate(&stream));
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  int value = 1;
  add_kernel<<<1, kCount, 0, stream>>>(x.data(), value);
  value = 1000;  // the graph has kept 1
  add_kernel<<<1, kCount, 0, stream>>>(x.data(), 2);
  swap_kernel<<<1, kCount, 0, stream>>>(x.data(), y.data());
  LAUNCHED();
  CUDA(cudaStreamEndCapture(stream, &graph));
  // Captured is not done.
  CUDA(cudaDeviceSynchronize());
  CHECK(x[0] == 0 && y[0] == 0);
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  CUDA(cudaGraphDestroy(graph));

  int a = 0, b = 0;
  for (int launch = 0; launch < 10; ++launch) {
    CUDA(cudaGraphLaunch(exec, stream));
    a += 3;
    const int old = a;
    a = b;
    b = old;
    if (launch % 3 == 0) CUDA(cudaStreamSynchronize(stream));
  }
  // And alongside other work of the stream.
  add_kernel<<<1, kCount, 0, stream>>>(x.data(), 100);
  LAUNCHED();
  CUDA(cudaStreamSynchronize(stream));
  for (int k = 0; k < kCount; ++k) {
    CHECK_EQUAL(x[k], a + 100);
    CHECK_EQUAL(y[k], b);
  }
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaStreamDestroy(stream));
}

// Two streams in one graph: the second begins after the first's first kernel, and both meet again.
void fork_and_join() {
  Array<int> a(kCount), b(kCount), out(kCount);
  cudaStream_t stream, side;
  CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CUDA(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
  cudaEvent_t fork, join;
  CUDA(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  CUDA(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
  cudaGraph_t graph;
  cudaGraphExec_t exec;

  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  add_kernel<<<1, kCount, 0, stream>>>(b.data(), 1);
  CUDA(cudaEventRecord(fork, stream));
  CUDA(cudaStreamWaitEvent(side, fork, 0));
  add_kernel<<<1, kCount, 0, stream>>>(a.data(), 1);
  add_kernel<<<1, kCount, 0, side>>>(b.data(), 1);
  CUDA(cudaEventRecord(join, side));
  CUDA(cudaStreamWaitEvent(stream, join, 0));
  sum_kernel<<<1, kCount, 0, stream>>>(a.data(), b.data(), out.data());
  LAUNCHED();
  CUDA(cudaStreamEndCapture(stream, &graph));
  CUDA(cudaGraphInstantiate(&exec, graph));

  int expected = 0;
  for (int k = 1; k <= 5; ++k) {
    CUDA(cudaGraphLaunch(exec, stream));
    expected += k * 2 * k;
  }
  CUDA(cudaStreamSynchronize(stream));
  for (int k = 0; k < kCount; ++k) CHECK_EQUAL(out[k], expected);
  // The streams are as before.
  add_kernel<<<1, kCount, 0, side>>>(out.data(), 7);
  LAUNCHED();
  CUDA(cudaStreamSynchronize(side));
  CHECK_EQUAL(out[3], expected + 7);

  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(graph));
  CUDA(cudaEventDestroy(fork));
  CUDA(cudaEventDestroy(join));
  CUDA(cudaStreamDestroy(stream));
  CUDA(cudaStreamDestroy(side));
}

void copies_and_fills() {
  Array<int> x(kCount);
  int *device, *host;
  CUDA(cudaMalloc(&device, kCount * sizeof(int)));
  CUDA(cudaMallocHost(&host, kCount * sizeof(int)));
  cudaStream_t stream;
  CUDA(cudaStreamCreate(&stream));
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  CUDA(cudaMemsetAsync(device, 0, kCount * sizeof(int), stream));
  add_kernel<<<1, kCount, 0, stream>>>(device, 5);
  CUDA(cudaMemcpyAsync(x.data(), device, kCount * sizeof(int), cudaMemcpyDeviceToDevice, stream));
  CUDA(cudaMemcpyAsync(host, device, kCount * sizeof(int), cudaMemcpyDeviceToHost, stream));
  CUDA(cudaStreamEndCapture(stream, &graph));
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  for (int launch = 0; launch < 2; ++launch) {
    for (int k = 0; k < kCount; ++k) x[k] = host[k] = -1;
    CUDA(cudaGraphLaunch(exec, stream));
    CUDA(cudaStreamSynchronize(stream));
    for (int k = 0; k < kCount; ++k) CHECK(x[k] == 5 && host[k] == 5);
  }
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(graph));
  CUDA(cudaStreamDestroy(stream));
  CUDA(cudaFree(device));
  CUDA(cudaFreeHost(host));
}

// The other ways to make a graph that can be launched.
void forms() {
  Array<int> x(1);
  cudaStream_t stream;
  CUDA(cudaStreamCreate(&stream));
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  add_kernel<<<1, 1, 0, stream>>>(x.data(), 1);
  cudaGraph_t graph;
  CUDA(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t of_cuda_11, with_flags;
  CUDA(cudaGraphInstantiate(&of_cuda_11, graph, nullptr, nullptr, 0));
  CUDA(cudaGraphInstantiateWithFlags(&with_flags, graph, 0));
  for (const cudaGraphExec_t exec : {of_cuda_11, with_flags}) {
    CUDA(cudaGraphLaunch(exec, stream));
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaGraphExecDestroy(exec));
  }
  CHECK_EQUAL(x[0], 2);
  CUDA(cudaGraphDestroy(graph));
  CUDA(cudaStreamDestroy(stream));
}

// A graph that can be launched gets the arguments of another capture.
void updates() {
  Array<int> x(1), y(1);
  cudaStream_t stream;
  CUDA(cudaStreamCreate(&stream));
  const auto captured = [&](int* place, int kernels) {
    cudaGraph_t graph;
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int k = 0; k < kernels; ++k) add_kernel<<<1, 1, 0, stream>>>(place, 1);
    CUDA(cudaStreamEndCapture(stream, &graph));
    return graph;
  };
  const cudaGraph_t of_x = captured(x.data(), 2), of_y = captured(y.data(), 2);
  const cudaGraph_t longer = captured(y.data(), 3);
  cudaGraphExec_t exec;
  CUDA(cudaGraphInstantiate(&exec, of_x, 0));
  CUDA(cudaGraphLaunch(exec, stream));
  cudaGraphExecUpdateResultInfo info;
  CUDA(cudaGraphExecUpdate(exec, of_y, &info));
  CHECK(info.result == cudaGraphExecUpdateSuccess);
  CHECK(cudaGraphExecUpdate(exec, longer, &info) == cudaErrorGraphExecUpdateFailure);
  CHECK(info.result == cudaGraphExecUpdateErrorTopologyChanged);
  (void)cudaGetLastError();
  CUDA(cudaGraphLaunch(exec, stream));
  CUDA(cudaStreamSynchronize(stream));
  CHECK(x[0] == 2 && y[0] == 2);
  for (const cudaGraph_t graph : {of_x, of_y, longer}) CUDA(cudaGraphDestroy(graph));
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaStreamDestroy(stream));
}

void mistakes() {
  cudaStream_t stream;
  CUDA(cudaStreamCreate(&stream));
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorIllegalState);
  CHECK(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal) ==
        cudaErrorStreamCaptureUnsupported);
  // No call may wait for a stream that is captured.
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaStreamSynchronize(stream) == cudaErrorStreamCaptureUnsupported);
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
  CHECK(graph == nullptr);
  (void)cudaGetLastError();
  CUDA(cudaDeviceSynchronize());

  // To free memory also means to wait: it is not freed.
  float* memory;
  CUDA(cudaMallocManaged(&memory, sizeof *memory));
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaFree(memory) == cudaErrorStreamCaptureUnsupported);
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
  (void)cudaGetLastError();
  *memory = 1;
  CHECK_EQUAL(*memory, 1);
  CUDA(cudaFree(memory));

  // A second stream that is never waited for.
  cudaStream_t side;
  CUDA(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
  cudaEvent_t fork;
  CUDA(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  Array<int> x(1);
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CUDA(cudaEventRecord(fork, stream));
  CUDA(cudaStreamWaitEvent(side, fork, 0));
  add_kernel<<<1, 1, 0, side>>>(x.data(), 1);
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureUnjoined);
  (void)cudaGetLastError();
  CUDA(cudaDeviceSynchronize());
  CHECK_EQUAL(x[0], 0);
  CUDA(cudaEventDestroy(fork));
  CUDA(cudaStreamDestroy(side));
  CUDA(cudaStreamDestroy(stream));
}

void record_and_wait(cudaEvent_t event, cudaStream_t from, cudaStream_t to) {
  CUDA(cudaEventRecord(event, from));
  CUDA(cudaStreamWaitEvent(to, event, 0));
}

// What of other streams the first one waits for, and what it does not.
void joins() {
  Array<int> x(3);
  cudaStream_t stream, side, beyond;
  for (cudaStream_t* s : {&stream, &side, &beyond}) {
    CUDA(cudaStreamCreateWithFlags(s, cudaStreamNonBlocking));
  }
  cudaEvent_t event, other_event;
  CUDA(cudaEventCreate(&event));
  CUDA(cudaEventCreate(&other_event));
  cudaGraph_t graph;
  cudaGraphExec_t exec;

  // By way of another stream, too; and those two may wait for each other.
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  record_and_wait(event, stream, side);
  record_and_wait(event, side, beyond);
  add_kernel<<<1, 1, 0, side>>>(x.data(), 1);
  add_kernel<<<1, 1, 0, beyond>>>(x.data() + 1, 1);
  CUDA(cudaEventRecord(other_event, beyond));
  record_and_wait(event, side, beyond);
  CUDA(cudaStreamWaitEvent(side, other_event, 0));
  add_kernel<<<1, 1, 0, stream>>>(x.data() + 2, 1);
  record_and_wait(event, side, stream);
  CUDA(cudaStreamEndCapture(stream, &graph));
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  CUDA(cudaGraphLaunch(exec, stream));
  CUDA(cudaStreamSynchronize(stream));
  for (int k = 0; k < 3; ++k) CHECK_EQUAL(x[k], 1);
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(graph));

  // The event comes before the second stream's last kernel.
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  record_and_wait(event, stream, side);
  CUDA(cudaEventRecord(event, side));
  add_kernel<<<1, 1, 0, side>>>(x.data(), 1);
  CUDA(cudaStreamWaitEvent(stream, event, 0));
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureUnjoined);
  (void)cudaGetLastError();

  // The capture has ended: no stream joins it, and the event tells nothing.
  CHECK(cudaStreamWaitEvent(side, event, 0) == cudaErrorInvalidValue);
  CHECK(cudaEventSynchronize(event) == cudaErrorInvalidValue);
  CHECK(cudaEventQuery(event) == cudaErrorInvalidValue);
  (void)cudaGetLastError();
  add_kernel<<<1, 1, 0, side>>>(x.data(), 1);
  LAUNCHED();
  CUDA(cudaDeviceSynchronize());
  CHECK_EQUAL(x[0], 2);

  // A captured stream waits for nothing that no capture holds.
  CUDA(cudaEventRecord(event, beyond));
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaStreamWaitEvent(stream, event, 0) == cudaErrorStreamCaptureIsolation);
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
  (void)cudaGetLastError();

  CUDA(cudaDeviceSynchronize());
  for (cudaStream_t s : {stream, side, beyond}) CUDA(cudaStreamDestroy(s));
  CUDA(cudaEventDestroy(event));
  CUDA(cudaEventDestroy(other_event));
}

int main() {
  one_stream();
  fork_and_join();
  joins();
  copies_and_fills();
  forms();
  updates();
  mistakes();
  return result();
}
