// expect: ended_variable.cu:@copy: copies to a local variable of a function that had returned

#include <check.h>

[[gnu::noinline]] cudaGraphExec_t make_graph(const int* from, cudaStream_t stream) {
  int to = 0;
  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CUDA_CHECK(cudaMemcpyAsync(&to, from, sizeof to, cudaMemcpyDeviceToHost, stream));  // @copy
  cudaGraph_t graph;
  CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t exec;
  CUDA_CHECK(cudaGraphInstantiate(&exec, graph, 0));
  return exec;
}

int main() {
  int* from;
  CUDA_CHECK(cudaMalloc(&from, sizeof *from));
  cudaStream_t stream;
  CUDA_CHECK(cudaStreamCreate(&stream));
  cudaGraphExec_t exec = make_graph(from, stream);
  CUDA_CHECK(cudaGraphLaunch(exec, stream));
  return 0;
}
