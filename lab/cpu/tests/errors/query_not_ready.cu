// expect: query_not_ready.cu:@load: host code reads byte 0 of the 8 bytes that cudaMallocHost gave
//         at line @malloc, and the copy queued at line @copy may not have ended: wait for it
//         \(cudaEventSynchronize, or cudaDeviceSynchronize\)

#include <check.h>

__global__ void set_kernel(double* x, double value) { *x = value; }

int main() {
  double *x, *pinned;
  cudaStream_t stream;
  cudaEvent_t done;
  CUDA_CHECK(cudaStreamCreate(&stream));
  CUDA_CHECK(cudaEventCreate(&done));
  CUDA_CHECK(cudaMalloc(&x, sizeof(double)));
  CUDA_CHECK(cudaMallocHost(&pinned, sizeof(double)));  // @malloc
  set_kernel<<<1, 1, 0, stream>>>(x, 5.0);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaMemcpyAsync(pinned, x, sizeof(double), cudaMemcpyDeviceToHost, stream));  // @copy
  CUDA_CHECK(cudaEventRecord(done, stream));
  if (cudaEventQuery(done) == cudaErrorNotReady) CUDA_CHECK(cudaGetLastError());
  return static_cast<int>(pinned[0]);  // @load
}
