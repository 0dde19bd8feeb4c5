// expect: host_past_end.cu:@store: host code writes 9960 bytes past the end of the 40 bytes that
//         cudaMallocManaged gave at line @malloc

#include <check.h>

int main() {
  int* x;
  CUDA_CHECK(cudaMallocManaged(&x, 40));  // @malloc
  x[2500] = 1;                            // @store
  return 0;
}
