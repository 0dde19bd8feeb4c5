// count: @floats     global load   4  2 64   8  0  0  0  0
// count: @quads      global load  16  2 64  32  0  0  0  0
// count: @one_lane   global load  16  2  2   2  0  0  0  0
// count: @floats     shared copy   4  2 64   0  2  0  0  0
// count: @quads      shared copy  16  2 64   0  8  0  0  0
// count: @one_lane   shared copy  16  2  2   0  2  0  0  0
// count: @store      shared load   4  2 64   0  2  0  0  0
// count: @store      global store  4  2 64   8  0  0  0  0
//
// Asynchronous copies to shared memory: their loads are requests like others. What they write to
// shared memory passes by the registers: a GPU counts no store there, and here it is a copy.

#include <check.h>
#include <cuda_pipeline.h>

__global__ void copy_kernel(float* out, const float* in) {
  __shared__ float floats[64];
  __shared__ float4 quads[64], quad[2];
  const int t = threadIdx.x;
  const float4* fours = reinterpret_cast<const float4*>(in);
  __pipeline_memcpy_async(&floats[t], in + t, sizeof(float));     // @floats
  __pipeline_memcpy_async(&quads[t], fours + t, sizeof(float4));  // @quads
  if (t % 32 == 0) {
    __pipeline_memcpy_async(&quad[t / 32], fours + t, sizeof(float4));  // @one_lane
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[t] = floats[t];  // @store
}

int main() {
  float *in, *out;
  CUDA_CHECK(cudaMalloc(&in, 64 * sizeof(float4)));
  CUDA_CHECK(cudaMalloc(&out, 64 * sizeof(float)));
  CUDA_CHECK(cudaMemset(in, 0, 64 * sizeof(float4)));
  copy_kernel<<<1, 64>>>(out, in);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaFree(in));
  CUDA_CHECK(cudaFree(out));
  return 0;
}
