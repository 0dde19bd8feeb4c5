// expect: host_copies_device.cu:@copy: host code reads byte 0 of the 4000 bytes that cudaMalloc
//         gave at line @malloc: copy it with cudaMemcpy, or allocate it with cudaMallocManaged

#include <check.h>

#include <cstring>

// The access is not the program's own, but the C library's: the compiler cannot put it in here.
void* (*volatile copy)(void*, const void*, std::size_t) = std::memcpy;

int main() {
  int *x, y[1000];
  CUDA_CHECK(cudaMalloc(&x, 4000));  // @malloc
  copy(y, x, 4000);                  // @copy
  return y[5];
}
