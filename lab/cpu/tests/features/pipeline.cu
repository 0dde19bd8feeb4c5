// Asynchronous copies from global into shared memory.

#include "check.h"

#include <cuda_pipeline.h>

constexpr int kThreads = 64;

template <class T>
__global__ void copy_kernel(const T* in, T* out) {
  __shared__ T tile[kThreads];
  const int t = threadIdx.x, k = blockIdx.x * kThreads + t;
  __pipeline_memcpy_async(&tile[t], &in[k], sizeof(T));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[k] = tile[kThreads - 1 - t];
}

// The next tile is on its way while this one is worked on.
__global__ void stages_kernel(const float* in, float* out, int tiles) {
  __shared__ float tile[2][kThreads];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[0][t], &in[t], sizeof(float));
  __pipeline_commit();
  float sum = 0;
  for (int k = 0; k < tiles; ++k) {
    if (k + 1 < tiles) {
      __pipeline_memcpy_async(&tile[(k + 1) % 2][t], &in[(k + 1) * kThreads + t], sizeof(float));
    }
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += tile[k % 2][(t + 1) % kThreads];
    __syncthreads();
  }
  out[t] = sum;
}

// Nobody waits: the copies are done when the thread is.
__global__ void forgetful_kernel(const float* in) {
  __shared__ float tile[kThreads];
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(float));
  __pipeline_commit();
}

// Beyond the end of the input come zeros.
__global__ void zero_fill_kernel(const float4* in, float4* out, int valid_floats) {
  __shared__ float4 tile[kThreads];
  const int t = threadIdx.x;
  const int left = min(max(valid_floats - 4 * t, 0), 4);
  __pipeline_memcpy_async(&tile[t], &in[left > 0 ? t : 0], 16, 16 - 4 * left);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[t] = tile[t ^ 1];
}

template <class T>
void copy() {
  Array<T> in(3 * kThreads), out(3 * kThreads);
  for (int k = 0; k < in.size(); ++k) reinterpret_cast<float&>(in[k]) = k;
  copy_kernel<<<3, kThreads>>>(in.data(), out.data());
  FINISHED();
  for (int k = 0; k < in.size(); ++k) {
    CHECK_EQUAL(reinterpret_cast<float&>(out[k]), k / kThreads * kThreads + 63 - k % kThreads);
  }
}

int main() {
  copy<float>();
  copy<float2>();
  copy<float4>();

  const int tiles = 7;
  Array<float> in(tiles * kThreads), out(kThreads);
  for (int k = 0; k < in.size(); ++k) in[k] = k % 50;
  stages_kernel<<<1, kThreads>>>(in.data(), out.data(), tiles);
  FINISHED();
  for (int t = 0; t < kThreads; ++t) {
    float expected = 0;
    for (int k = 0; k < tiles; ++k) expected += (k * kThreads + (t + 1) % kThreads) % 50;
    CHECK_EQUAL(out[t], expected);
  }

  for (int k = 0; k < 5; ++k) {
    float* gone;
    CUDA(cudaMalloc(&gone, kThreads * sizeof(float)));
    CUDA(cudaMemset(gone, 0, kThreads * sizeof(float)));
    forgetful_kernel<<<1, kThreads>>>(gone);
    FINISHED();
    CUDA(cudaFree(gone));
    copy_kernel<<<1, kThreads>>>(in.data(), out.data());
    FINISHED();
    for (int t = 0; t < kThreads; ++t) CHECK_EQUAL(out[t], in[kThreads - 1 - t]);
  }

  Array<float4> fours(kThreads), filled(kThreads);
  for (int k = 0; k < kThreads; ++k) fours[k] = make_float4(1, 2, 3, 4);
  zero_fill_kernel<<<1, kThreads>>>(fours.data(), filled.data(), 102);
  FINISHED();
  for (int k = 0; k < kThreads; ++k) {
    const int t = k ^ 1;
    CHECK_EQUAL(filled[k].x, t <= 25 ? 1 : 0);
    CHECK_EQUAL(filled[k].y, t <= 25 ? 2 : 0);
    CHECK_EQUAL(filled[k].z, t < 25 ? 3 : 0);
    CHECK_EQUAL(filled[k].w, t < 25 ? 4 : 0);
  }
  return result();
}
