// expect: pitch_in_bytes.cu:@store: writes just past the end of the 2048 bytes that
//         cudaMallocPitch gave at line @allocate

#include <check.h>

// The pitch is in bytes, and is used as a number of floats.
__global__ void k_kernel(float* x, std::size_t pitch) {
  x[threadIdx.x * pitch] = 1;  // @store
}

int main() {
  float* x;
  std::size_t pitch;
  CUDA_CHECK(cudaMallocPitch(&x, &pitch, 8 * sizeof(float), 4));  // @allocate
  k_kernel<<<1, 4>>>(x, pitch);
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
