// expect: cudaFree\(x \+ 1\): invalid argument \(the pointer is byte 4 of the 40 bytes that
//         cudaMalloc gave at free_in_the_middle.cu:@malloc\)

#include <check.h>

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 40));  // @malloc
  CUDA_CHECK(cudaFree(x + 1));
  return 0;
}
