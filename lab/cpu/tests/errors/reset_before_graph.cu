// expect: reset_before_graph.cu:@launch: cudaGraphLaunch\(exec, nullptr\): invalid argument \(this
//         graph was destroyed already, at .*:@reset\)

#include <check.h>

__global__ void set_kernel(double* x, double value) { *x = value; }

int main() {
  double* x;
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CUDA_CHECK(cudaMalloc(&x, sizeof(double)));
  CUDA_CHECK(cudaStreamCreate(&stream));
  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  set_kernel<<<1, 1, 0, stream>>>(x, 5.0);
  CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  CUDA_CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CUDA_CHECK(cudaDeviceReset());               // @reset
  CUDA_CHECK(cudaGraphLaunch(exec, nullptr));  // @launch
  return 0;
}
