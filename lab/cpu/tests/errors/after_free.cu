// expect: after_free.cu:@load: reads byte 4 of the 40 bytes that cudaMalloc gave at line @malloc
//         and that were freed at line @free \(kernel launched at line @launch, block \(0,0,0\),
//         thread \(0,0,0\)\)

#include <check.h>

struct Fields {
  int* x;
};

__global__ void k_kernel(int* y, Fields fields) {
  y[0] = fields.x[1];  // @load
}

int main() {
  int* x;
  CUDA_CHECK(cudaMalloc(&x, 40));  // @malloc
  int* y;
  CUDA_CHECK(cudaMalloc(&y, 40));
  CUDA_CHECK(cudaFree(x));           // @free
  k_kernel<<<1, 1>>>(y, Fields{x});  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
