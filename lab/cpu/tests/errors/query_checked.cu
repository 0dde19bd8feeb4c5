// expect: query_checked.cu:@query: cudaStreamQuery\(nullptr\): device not ready \(what it asks for
//         may not have ended: cudaEventSynchronize and cudaStreamSynchronize wait for it\)

#include <check.h>

__global__ void set_kernel(double* x, double value) { *x = value; }

int main() {
  double* x;
  CUDA_CHECK(cudaMalloc(&x, sizeof(double)));
  set_kernel<<<1, 1>>>(x, 5.0);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaStreamQuery(nullptr));  // @query
  return 0;
}
