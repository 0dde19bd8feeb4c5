// expect: host_reads_device.cu:@load: host code reads byte 4 of the 40 bytes that cudaMalloc gave
//         at line @malloc: copy it with cudaMemcpy, or allocate it with cudaMallocManaged

#include <check.h>

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 40));  // @malloc
  return x[1];                     // @load
}
