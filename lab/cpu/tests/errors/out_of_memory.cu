// expect: cudaMalloc\(&x, size_t\{1\} << 50\): out of memory \([0-9.]+ GB asked for, [0-9.]+ GB
//         free\) \(cudaErrorMemoryAllocation\)

#include <check.h>

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, size_t{1} << 50));
  return 0;
}
