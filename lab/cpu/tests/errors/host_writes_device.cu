// expect: host_writes_device.cu:@store: host code writes byte 0 of the 40 bytes that cudaMalloc
//         gave at line @malloc: copy it with cudaMemcpy, or allocate it with cudaMallocManaged

#include <check.h>

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 40));  // @malloc
  x[0] = 1;                        // @store
  return 0;
}
