// expect: CUDA has atomicMax of int, unsigned, long long, unsigned long long
// variant: compile

#include <check.h>

__global__ void max_kernel(float* x) { atomicMax(x, 1.0f); }

int main() {
  float* x;
  CUDA_CHECK(cudaMalloc(&x, 4));
  max_kernel<<<1, 1>>>(x);
  return 0;
}
