// An asynchronous copy to ordinary host memory is done when the call returns, and so is one within
// the host's memory; what was read from ordinary host memory may be used again at once.

#include "check.h"

#include <vector>

__global__ void set_kernel(int* x, int value) { *x = value; }

int main() {
  int* x;
  CUDA(cudaMalloc(&x, sizeof(int)));
  Array<int> managed(1);
  cudaStream_t stream;
  CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));

  int on_stack = 0;
  std::vector<int> on_heap(1);
  set_kernel<<<1, 1, 0, stream>>>(x, 5);
  CUDA(cudaMemcpyAsync(&on_stack, x, sizeof(int), cudaMemcpyDeviceToHost, stream));
  CHECK_EQUAL(on_stack, 5);
  set_kernel<<<1, 1, 0, stream>>>(x, 6);
  CUDA(cudaMemcpyAsync(on_heap.data(), x, sizeof(int), cudaMemcpyDefault, stream));
  CHECK_EQUAL(on_heap[0], 6);
  set_kernel<<<1, 1>>>(x, 7);
  CUDA(cudaMemcpyAsync(&on_stack, x, sizeof(int), cudaMemcpyDeviceToHost));
  CHECK_EQUAL(on_stack, 7);
  set_kernel<<<1, 1, 0, stream>>>(managed.data(), 8);
  CUDA(cudaMemcpyAsync(&on_stack, managed.data(), sizeof(int), cudaMemcpyDefault, stream));
  CHECK_EQUAL(on_stack, 8);

  // To the device: the host's variable is free at once.
  on_stack = 9;
  CUDA(cudaMemcpyAsync(x, &on_stack, sizeof(int), cudaMemcpyHostToDevice, stream));
  on_stack = 0;
  CUDA(cudaMemcpyAsync(&on_stack, x, sizeof(int), cudaMemcpyDeviceToHost, stream));
  CHECK_EQUAL(on_stack, 9);

  // Pinned memory: within the host at once, from the device only after a wait.
  int *pinned, *other;
  CUDA(cudaMallocHost(&pinned, sizeof(int)));
  CUDA(cudaMallocHost(&other, sizeof(int)));
  *pinned = 10;
  CUDA(cudaMemcpyAsync(other, pinned, sizeof(int), cudaMemcpyHostToHost, stream));
  CHECK_EQUAL(*other, 10);
  CUDA(cudaMemcpyAsync(&on_stack, pinned, sizeof(int), cudaMemcpyHostToHost, stream));
  CHECK_EQUAL(on_stack, 10);
  set_kernel<<<1, 1, 0, stream>>>(x, 11);
  CUDA(cudaMemcpyAsync(pinned, x, sizeof(int), cudaMemcpyDeviceToHost, stream));
  CUDA(cudaStreamSynchronize(stream));
  CHECK_EQUAL(*pinned, 11);

  // A captured copy is only noted.
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  on_stack = 1;
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  set_kernel<<<1, 1, 0, stream>>>(x, 12);
  CUDA(cudaMemcpyAsync(&on_stack, x, sizeof(int), cudaMemcpyDeviceToHost, stream));
  CUDA(cudaStreamEndCapture(stream, &graph));
  CHECK_EQUAL(on_stack, 1);
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  CUDA(cudaGraphLaunch(exec, stream));
  CUDA(cudaStreamSynchronize(stream));
  CHECK_EQUAL(on_stack, 12);

  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(graph));
  CUDA(cudaFree(x));
  CUDA(cudaFreeHost(pinned));
  CUDA(cudaFreeHost(other));
  CUDA(cudaStreamDestroy(stream));
  return result();
}
