// expect: leak_in_every_turn.cu:@memory: allocated here in every turn, 5 times, and never freed
//         \(cudaMalloc\)
// expect: leak_in_every_turn.cu:@pinned: allocated here in every turn, 5 times, and never freed
//         \(cudaMallocHost\)
// expect: leak_in_every_turn.cu:@stream: allocated here in every turn, 5 times, and never freed
//         \(cudaStreamCreate\)
// expect: leak_in_every_turn.cu:@event: allocated here in every turn, 5 times, and never freed
//         \(cudaEventCreate\)
// expect: leak_in_every_turn.cu:@graph: allocated here in every turn, 5 times, and never freed
//         \(cudaStreamEndCapture\)
// expect: leak_in_every_turn.cu:@exec: allocated here in every turn, 5 times, and never freed
//         \(cudaGraphInstantiate\)

#include <check.h>
#include <cuda_on_cpu/program.h>

// What is allocated once, by one line for several fields, is no leak of a turn; nor is what is
// freed in it, or what the first of them needs.
float* field() {
  float* x;
  CUDA_CHECK(cudaMalloc(&x, 400));
  return x;
}

int turns = 0;

int main() {
  cuda_on_cpu::program.rounds = [] { return turns; };
  cuda_on_cpu::program.round = "turn";
  for (int k = 0; k < 4; ++k) (void)field();
  while (turns < 5) {
    float *x, *y, *pinned;
    cudaStream_t stream;
    cudaEvent_t event;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CUDA_CHECK(cudaMalloc(&x, 400));           // @memory
    CUDA_CHECK(cudaMallocHost(&pinned, 400));  // @pinned
    CUDA_CHECK(cudaMallocManaged(&y, 400));
    CUDA_CHECK(cudaStreamCreate(&stream));  // @stream
    CUDA_CHECK(cudaEventCreate(&event));    // @event
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CUDA_CHECK(cudaStreamEndCapture(stream, &graph));   // @graph
    CUDA_CHECK(cudaGraphInstantiate(&exec, graph, 0));  // @exec
    CUDA_CHECK(cudaFree(y));
    if (turns < 2) (void)field();
    ++turns;
  }
  return 0;
}
