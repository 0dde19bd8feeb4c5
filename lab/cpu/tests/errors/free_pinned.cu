// expect: cudaFree\(x\): invalid argument \(memory of cudaMallocHost needs cudaFreeHost\)

#include <check.h>

int main() {
  int* x;
  CUDA_CHECK(cudaMallocHost(&x, 40));
  CUDA_CHECK(cudaFree(x));
  return 0;
}
