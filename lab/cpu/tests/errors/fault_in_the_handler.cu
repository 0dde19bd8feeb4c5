// expect: ^why it ends$
// exit: 139

#include <check.h>

#include <cstdio>

#include <cuda_on_cpu/program.h>

// A fault while a fault is reported ends the program. Before, it was reported again and again.
const char* spoilt() {
  std::fputs("why it ends\n", stderr);
  return reinterpret_cast<const char* const*>(8)[0];
}

__global__ void k_kernel(int* x) { x[0] = *reinterpret_cast<int*>(1ull << 44); }

int main() {
  cuda_on_cpu::program.words_before_the_end = spoilt;
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 40));
  k_kernel<<<1, 1>>>(x);
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
