// expect: graph_destroyed.cu:@launch: cudaGraphLaunch\(exec, stream\): .*\(this graph was
//         destroyed already, at .*graph_destroyed.cu:@destroy\)

#include <check.h>

__global__ void k_kernel(int* x) { x[0] = 1; }

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, sizeof *x));
  cudaStream_t stream;
  CUDA_CHECK(cudaStreamCreate(&stream));
  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  k_kernel<<<1, 1, 0, stream>>>(x);
  cudaGraph_t graph;
  CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t exec;
  CUDA_CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CUDA_CHECK(cudaGraphExecDestroy(exec));     // @destroy
  CUDA_CHECK(cudaGraphLaunch(exec, stream));  // @launch
  return 0;
}
