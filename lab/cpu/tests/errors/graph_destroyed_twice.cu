// expect: graph_destroyed_twice.cu:@again: cudaGraphDestroy\(graph\): .*\(this graph was destroyed
//         already, at .*graph_destroyed_twice.cu:@destroy\)

#include <check.h>

int main() {
  cudaStream_t stream;
  CUDA_CHECK(cudaStreamCreate(&stream));
  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  cudaGraph_t graph;
  CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  CUDA_CHECK(cudaGraphDestroy(graph));  // @destroy
  CUDA_CHECK(cudaGraphDestroy(graph));  // @again
  return 0;
}
