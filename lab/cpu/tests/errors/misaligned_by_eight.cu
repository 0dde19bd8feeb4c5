// expect: misaligned_by_eight.cu:@load: .*is not? (a )?multiple of .*\(kernel launched at line
//         @launch, block \(0,0,0\), thread \(0,0,0\)\)
// variant: watched
// compiler: g\+\+

#include <check.h>

__global__ void wide_kernel(float* x) {
  float4* out = reinterpret_cast<float4*>(x);
  out[0] = *reinterpret_cast<const float4*>(x + 2);  // @load
}

int main() {
  float* x;
  CUDA_CHECK(cudaMalloc(&x, 80));
  CUDA_CHECK(cudaMemset(x, 0, 80));
  wide_kernel<<<1, 1>>>(x);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
