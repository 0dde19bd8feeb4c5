// A program that asks whether work is done, and goes on asking or waits after all, gets what the
// work computed. "Not ready" is no error.

#include "check.h"

__global__ void set_kernel(int* x, int value) { *x = value; }

struct Work {
  Array<int> x{1};
  int* pinned;
  cudaStream_t stream;
  cudaEvent_t done;

  Work() {
    CUDA(cudaMallocHost(&pinned, sizeof(int)));
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
  }
  ~Work() {
    CUDA(cudaFreeHost(pinned));
    CUDA(cudaStreamDestroy(stream));
    CUDA(cudaEventDestroy(done));
  }
  void queue(int value) {
    set_kernel<<<1, 1, 0, stream>>>(x.data(), value);
    LAUNCHED();
    CUDA(cudaMemcpyAsync(pinned, x.data(), sizeof(int), cudaMemcpyDeviceToHost, stream));
    CUDA(cudaEventRecord(done, stream));
  }
};

void ask_until_done(Work& work) {
  work.queue(1);
  int polls = 0;
  while (cudaEventQuery(work.done) == cudaErrorNotReady) ++polls;
  CHECK_EQUAL(*work.pinned, 1);
  LAUNCHED();  // no answer was an error
  CUDA(cudaPeekAtLastError());
  work.queue(2);
  for (cudaError_t answer; (answer = cudaStreamQuery(work.stream)) != cudaSuccess; ++polls) {
    CHECK_EQUAL(answer, cudaErrorNotReady);
  }
  CHECK_EQUAL(*work.pinned, 2);
  LAUNCHED();
}

// The host has something else to do, and then waits.
void ask_once_and_wait(Work& work) {
  work.queue(3);
  if (cudaEventQuery(work.done) != cudaSuccess) CUDA(cudaEventSynchronize(work.done));
  CHECK_EQUAL(*work.pinned, 3);
  work.queue(4);
  if (cudaStreamQuery(work.stream) == cudaErrorNotReady) CUDA(cudaStreamSynchronize(work.stream));
  CHECK_EQUAL(*work.pinned, 4);
}

// Two at a time: whichever is done first.
void ask_both(Work& one, Work& other) {
  one.queue(5);
  other.queue(6);
  bool seen[2] = {};
  while (!seen[0] || !seen[1]) {
    if (!seen[0] && cudaEventQuery(one.done) == cudaSuccess) {
      CHECK_EQUAL(*one.pinned, 5);
      seen[0] = true;
    }
    if (!seen[1] && cudaEventQuery(other.done) == cudaSuccess) {
      CHECK_EQUAL(*other.pinned, 6);
      seen[1] = true;
    }
  }
}

void ask_of_nothing(Work& work) {
  cudaEvent_t fresh;
  CUDA(cudaEventCreate(&fresh));
  CUDA(cudaEventQuery(fresh));  // never recorded
  CUDA(cudaEventQuery(fresh));
  CUDA(cudaEventDestroy(fresh));
  CUDA(cudaDeviceSynchronize());
  CUDA(cudaEventQuery(work.done));
  CUDA(cudaStreamQuery(work.stream));
  CUDA(cudaStreamQuery(nullptr));
}

void default_stream_asks_for_all() {
  Array<int> x(1);
  cudaStream_t blocking;
  CUDA(cudaStreamCreate(&blocking));
  set_kernel<<<1, 1, 0, blocking>>>(x.data(), 5);
  LAUNCHED();
  while (cudaStreamQuery(nullptr) == cudaErrorNotReady) {
  }
  CHECK_EQUAL(x[0], 5);  // an H200 answers for blocking streams, too
  CUDA(cudaStreamDestroy(blocking));
}

void errors_stay() {
  CHECK_EQUAL(cudaSetDevice(1000), cudaErrorInvalidDevice);
  Work work;
  CHECK_EQUAL(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  set_kernel<<<1, 1, 0, work.stream>>>(work.x.data(), 7);
  while (cudaStreamQuery(work.stream) == cudaErrorNotReady) {
  }
  CHECK_EQUAL(cudaGetLastError(), cudaErrorInvalidDevice);
  LAUNCHED();
}

int main() {
  default_stream_asks_for_all();
  {
    Work one, other;
    ask_until_done(one);
    ask_once_and_wait(one);
    ask_both(one, other);
    ask_of_nothing(one);
  }
  errors_stay();
  return result();
}
