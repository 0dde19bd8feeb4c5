// expect: misaligned_in_parts.cu:@load: reads 16 bytes at an address that is not a multiple of 16:
//         byte 8 of the 80 bytes that cudaMalloc gave at line @malloc \(kernel launched at line
//         @launch, block \(0,0,0\), thread \(0,0,0\)\)
// variant: watched
// compiler: g\+\+

#include <check.h>

// What is returned is copied in two parts of 8 bytes, each of which is aligned.
__device__ float4 quad(const float* x, int q) {
  if (q < 4) return reinterpret_cast<const float4*>(x)[q];  // @load
  return make_float4(x[0], 0.0f, 0.0f, 0.0f);
}

__global__ void wide_kernel(float* x) { x[1] = quad(x + 2, threadIdx.x).w; }

int main() {
  float* x;
  CUDA_CHECK(cudaMalloc(&x, 80));  // @malloc
  CUDA_CHECK(cudaMemset(x, 0, 80));
  wide_kernel<<<1, 1>>>(x);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
