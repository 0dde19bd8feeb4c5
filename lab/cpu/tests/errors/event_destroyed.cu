// expect: event_destroyed.cu:@record: cudaEventRecord\(event, nullptr\): .*\(there is no such
//         event\)

#include <check.h>

int main() {
  cudaEvent_t event;
  CUDA_CHECK(cudaEventCreate(&event));
  CUDA_CHECK(cudaEventDestroy(event));
  CUDA_CHECK(cudaEventRecord(event, nullptr));  // @record
  return 0;
}
