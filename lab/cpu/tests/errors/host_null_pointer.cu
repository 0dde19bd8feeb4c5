// expect: host_null_pointer.cu:@load: host code reads a null pointer: no memory was put into this
//         pointer \(cudaMallocManaged and its like put it where their first argument points\)

#include <check.h>

// The caller's pointer stays as it was.
void allocate(int* x) { CUDA_CHECK(cudaMallocManaged(&x, 40)); }

int main() {
  int* volatile x = nullptr;
  allocate(x);
  return *x;  // @load
}
