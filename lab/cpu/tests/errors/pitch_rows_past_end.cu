// expect: pitch_rows_past_end.cu:@copy: .*\(8 rows of 16 bytes, but the source has room for only
//         2048 bytes, allocated at pitch_rows_past_end.cu:@allocate\)
// expect-no: bytes that cudaMalloc gave

#include <check.h>

// Width and rows are exchanged.
int main() {
  float* x;
  std::size_t pitch;
  CUDA_CHECK(cudaMallocPitch(&x, &pitch, 8 * sizeof(float), 4));  // @allocate
  char to[8 * 16];
  CUDA_CHECK(cudaMemcpy2D(to, 16, x, pitch, 16, 8, cudaMemcpyDeviceToHost));  // @copy
  return 0;
}
