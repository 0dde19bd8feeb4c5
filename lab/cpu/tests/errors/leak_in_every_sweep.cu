// expect: leak_in_every_sweep.cu:@memory: allocated here in every sweep, 5 times, and never freed
//         \(cudaMalloc\)
// expect: leak_in_every_sweep.cu:@pinned: allocated here in every sweep, 5 times, and never freed
//         \(cudaMallocHost\)
// expect: leak_in_every_sweep.cu:@stream: allocated here in every sweep, 5 times, and never freed
//         \(cudaStreamCreate\)
// expect: leak_in_every_sweep.cu:@event: allocated here in every sweep, 5 times, and never freed
//         \(cudaEventCreate\)
// expect: leak_in_every_sweep.cu:@graph: allocated here in every sweep, 5 times, and never freed
//         \(cudaStreamEndCapture\)
// expect: leak_in_every_sweep.cu:@exec: allocated here in every sweep, 5 times, and never freed
//         \(cudaGraphInstantiate\)

#include <lab/cuda_check.h>
#include <lab/run.h>

// What is allocated once, by one line for several fields, is no leak of a sweep; nor is what is
// freed in the sweep, or what the first of them needs.
float* field() {
  float* x;
  CUDA_CHECK(cudaMalloc(&x, 400));
  return x;
}

int main(int argc, char** argv) {
  const lab::Options options = lab::parse_options(argc, argv, {16});
  const lab::Problem problem(options);
  lab::Options quiet = options;
  quiet.quiet = true;
  for (int k = 0; k < 4; ++k) (void)field();
  lab::Run run(quiet, problem);
  for (int sweep = 1; sweep <= 5; ++sweep) {
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
    if (sweep <= 2) (void)field();
    run.record(sweep, 1.0);
  }
  return 0;
}
