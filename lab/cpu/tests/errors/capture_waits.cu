// expect: capture_waits.cu:@wait: cudaDeviceSynchronize\(\): operation not permitted when stream
//         is capturing \(cudaDeviceSynchronize between cudaStreamBeginCapture and
//         cudaStreamEndCapture\) \(cudaErrorStreamCaptureUnsupported\)

#include <check.h>

int main() {
  cudaStream_t stream;
  CUDA_CHECK(cudaStreamCreate(&stream));
  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CUDA_CHECK(cudaDeviceSynchronize());  // @wait
  return 0;
}
