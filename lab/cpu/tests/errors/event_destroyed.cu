// expect: event_destroyed.cu:@record: cudaEventRecord\(event, nullptr\): .*\(this event was
//         destroyed already, at .*event_destroyed.cu:@destroy\)

#include <check.h>

int main() {
  cudaEvent_t event;
  CUDA_CHECK(cudaEventCreate(&event));
  CUDA_CHECK(cudaEventDestroy(event));          // @destroy
  CUDA_CHECK(cudaEventRecord(event, nullptr));  // @record
  return 0;
}
