// Order within a stream, between streams by events, and of the default stream with the others.

#include "check.h"

__global__ void set_kernel(int* x, int value) { *x = value; }
// Appends a digit: the order of several kernels shows.
__global__ void append_kernel(int* x, int digit) { *x = 10 * *x + digit; }
__global__ void sum_kernel(const int* a, const int* b, int* out) { *out = *a + *b; }

void one_stream() {
  Array<int> x(1);
  cudaStream_t stream;
  CUDA(cudaStreamCreate(&stream));
  for (int k = 1; k <= 5; ++k) append_kernel<<<1, 1, 0, stream>>>(x.data(), k);
  LAUNCHED();
  CUDA(cudaStreamSynchronize(stream));
  CHECK_EQUAL(x[0], 12345);
  append_kernel<<<1, 1, 0, stream>>>(x.data(), 6);
  CUDA(cudaStreamDestroy(stream));  // what is queued is still done, and the default stream waits
  append_kernel<<<1, 1>>>(x.data(), 7);
  CUDA(cudaDeviceSynchronize());
  CHECK_EQUAL(x[0], 1234567);
}

void event_between_streams() {
  Array<int> a(1), b(1), out(1);
  cudaStream_t left, right;
  CUDA(cudaStreamCreateWithFlags(&left, cudaStreamNonBlocking));
  CUDA(cudaStreamCreateWithFlags(&right, cudaStreamNonBlocking));
  cudaEvent_t b_is_there;
  CUDA(cudaEventCreateWithFlags(&b_is_there, cudaEventDisableTiming));
  for (int round = 1; round <= 3; ++round) {
    set_kernel<<<1, 1, 0, left>>>(a.data(), round);
    set_kernel<<<1, 1, 0, right>>>(b.data(), 100 * round);
    CUDA(cudaEventRecord(b_is_there, right));
    CUDA(cudaStreamWaitEvent(left, b_is_there, 0));
    sum_kernel<<<1, 1, 0, left>>>(a.data(), b.data(), out.data());
    LAUNCHED();
    CUDA(cudaStreamSynchronize(left));
    CHECK_EQUAL(out[0], 101 * round);
  }
  // Left has waited for right: so is all of right done.
  CUDA(cudaEventSynchronize(b_is_there));
  CHECK_EQUAL(b[0], 300);
  CUDA(cudaEventDestroy(b_is_there));
  CUDA(cudaStreamDestroy(left));
  CUDA(cudaStreamDestroy(right));
}

// The default stream comes after all that was issued before it, and before all that comes after.
void default_stream() {
  Array<int> x(1);
  cudaStream_t stream, other;
  CUDA(cudaStreamCreate(&stream));
  CUDA(cudaStreamCreateWithPriority(&other, cudaStreamDefault, 0));
  append_kernel<<<1, 1, 0, stream>>>(x.data(), 1);
  append_kernel<<<1, 1>>>(x.data(), 2);
  append_kernel<<<1, 1, 0, other>>>(x.data(), 3);
  append_kernel<<<1, 1>>>(x.data(), 4);
  append_kernel<<<1, 1, 0, stream>>>(x.data(), 5);
  LAUNCHED();
  CUDA(cudaStreamSynchronize(stream));
  CHECK_EQUAL(x[0], 12345);
  append_kernel<<<1, 1, 0, stream>>>(x.data(), 6);
  CUDA(cudaStreamSynchronize(nullptr));  // also of the streams that block
  CHECK_EQUAL(x[0], 123456);
  CUDA(cudaStreamDestroy(stream));
  CUDA(cudaStreamDestroy(other));
  int least = 1, greatest = 1;
  CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  CHECK(least >= greatest);
}

void queries() {
  Array<int> x(1);
  cudaStream_t stream;
  CUDA(cudaStreamCreate(&stream));
  cudaEvent_t event;
  CUDA(cudaEventCreateWithFlags(&event, cudaEventBlockingSync));
  CUDA(cudaEventQuery(event));  // never recorded: done
  set_kernel<<<1, 1, 0, stream>>>(x.data(), 1);
  CUDA(cudaEventRecord(event, stream));
  append_kernel<<<1, 1, 0, stream>>>(x.data(), 2);
  LAUNCHED();
  while (cudaEventQuery(event) == cudaErrorNotReady) {
  }
  while (cudaStreamQuery(stream) == cudaErrorNotReady) {
  }
  (void)cudaGetLastError();  // "not ready" counts as one
  CHECK_EQUAL(x[0], 12);
  CUDA(cudaStreamDestroy(stream));
  CUDA(cudaEventDestroy(event));
}

void times() {
  cudaEvent_t start, middle, end;
  CUDA(cudaEventCreate(&start));
  CUDA(cudaEventCreate(&middle));
  CUDA(cudaEventCreate(&end));
  Array<int> x(1);
  CUDA(cudaEventRecord(start));
  append_kernel<<<1, 1>>>(x.data(), 1);
  CUDA(cudaEventRecord(middle, nullptr));
  append_kernel<<<1, 1>>>(x.data(), 2);
  CUDA(cudaEventRecord(end));
  CUDA(cudaEventSynchronize(end));
  CHECK_EQUAL(x[0], 12);
  float first = -1, both = -1;
  CUDA(cudaEventElapsedTime(&first, start, middle));
  CUDA(cudaEventElapsedTime(&both, start, end));
  CHECK(first >= 0 && both >= first && both < 10000);
  for (const cudaEvent_t event : {start, middle, end}) CUDA(cudaEventDestroy(event));
}

// An event that is recorded once more stands for what was recorded last, whichever stream is ahead.
void recorded_twice() {
  cudaStream_t left, right;
  cudaEvent_t start, end;
  CUDA(cudaStreamCreateWithFlags(&left, cudaStreamNonBlocking));
  CUDA(cudaStreamCreateWithFlags(&right, cudaStreamNonBlocking));
  CUDA(cudaEventCreate(&start));
  CUDA(cudaEventCreate(&end));
  CUDA(cudaEventRecord(start, left));
  CUDA(cudaEventRecord(start, right));
  CUDA(cudaEventRecord(end, right));
  CUDA(cudaStreamSynchronize(right));
  CUDA(cudaStreamSynchronize(left));
  float ms = -1;
  CUDA(cudaEventElapsedTime(&ms, start, end));
  CHECK(ms >= 0);
  // Nor does it matter to what is queued when it is destroyed.
  for (const cudaStream_t stream : {left, right}) CUDA(cudaEventRecord(start, stream));
  for (const cudaEvent_t event : {start, end}) CUDA(cudaEventDestroy(event));
  for (const cudaStream_t stream : {left, right}) CUDA(cudaStreamDestroy(stream));
}

int main() {
  one_stream();
  event_between_streams();
  default_stream();
  queries();
  times();
  recorded_twice();
  return result();
}
