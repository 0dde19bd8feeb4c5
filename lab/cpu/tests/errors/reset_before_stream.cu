// expect: reset_before_stream.cu:@wait: cudaStreamSynchronize\(stream\): invalid resource handle
//         \(there is no such stream: cudaDeviceReset has destroyed it\)

#include <check.h>

int main() {
  cudaStream_t stream;
  CUDA_CHECK(cudaStreamCreate(&stream));
  CUDA_CHECK(cudaDeviceReset());
  CUDA_CHECK(cudaStreamSynchronize(stream));  // @wait
  return 0;
}
