// Shared memory: of the block, in every form of declaration, and dynamic.

#include "check.h"

constexpr int kThreads = 64;

__global__ void reverse_kernel(int* out) {
  __shared__ int values[kThreads];
  values[threadIdx.x] = blockIdx.x * kThreads + threadIdx.x;
  __syncthreads();
  out[blockIdx.x * kThreads + threadIdx.x] = values[kThreads - 1 - threadIdx.x];
}

// Several in one declaration, and scalars.
__global__ void several_kernel(float* out) {
  __shared__ float a[kThreads], b[kThreads + 1], sum;
  const int t = threadIdx.x;
  a[t] = t;
  b[t + 1] = 2 * t;
  if (t == 0) {
    b[0] = 100;
    sum = 0.5f;
  }
  __syncthreads();
  out[t] = a[t] + b[t] + sum;
}

__global__ void transpose_kernel(const float* in, float* out) {
  __shared__ float tile[8][8 + 1];
  tile[threadIdx.y][threadIdx.x] = in[8 * threadIdx.y + threadIdx.x];
  __syncthreads();
  out[8 * threadIdx.y + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void cube_kernel(int* out) {
  __shared__ int cube[2][3][4];
  int& mine = cube[threadIdx.z][threadIdx.y][threadIdx.x];
  mine = threadIdx.x + 10 * threadIdx.y + 100 * threadIdx.z;
  __syncthreads();
  const int k = threadIdx.x + 4 * (threadIdx.y + 3 * threadIdx.z);
  out[k] = cube[1 - threadIdx.z][2 - threadIdx.y][3 - threadIdx.x];
}

struct Pair {
  double value;
  int index;
};
struct Storage {
  Pair pair[kThreads];
  char flag;
};

__global__ void struct_kernel(double* out) {
  __shared__ Storage storage;
  const int t = threadIdx.x;
  storage.pair[t].value = 0.25 * t;
  storage.pair[t].index = kThreads - 1 - t;
  if (t == 0) storage.flag = 'x';
  __syncthreads();
  out[t] = storage.pair[storage.pair[t].index].value + (storage.flag == 'x');
}

template <class T, int kCount>
__global__ void template_kernel(T* out) {
  __shared__ T values[kCount];
  values[threadIdx.x] = static_cast<T>(threadIdx.x) / 2;
  __syncthreads();
  out[threadIdx.x] = values[(threadIdx.x + 1) % kCount];
}

__device__ float neighbour(float x) {
  __shared__ float values[kThreads];
  values[threadIdx.x] = x;
  __syncthreads();
  return values[(threadIdx.x + 1) % kThreads];
}

__global__ void function_kernel(float* out) { out[threadIdx.x] = neighbour(3.0f * threadIdx.x); }

__global__ void aligned_kernel(int* misaligned) {
  __shared__ char some;
  __shared__ __align__(16) float a[4];
  __shared__ alignas(16) double b[2];
  __shared__ float4 c;
  some = 0;
  const auto is_off = [](const void* p, int bytes) {
    return reinterpret_cast<size_t>(p) % bytes != 0;
  };
  *misaligned = is_off(a, 16) + is_off(b, 16) + is_off(&c, 16) + some;
}

__global__ void dynamic_kernel(double* out, int n) {
  extern __shared__ double values[];
  for (int k = threadIdx.x; k < n; k += blockDim.x) values[k] = 0.5 * k;
  __syncthreads();
  for (int k = threadIdx.x; k < n; k += blockDim.x) out[k] = values[n - 1 - k];
}

// Two arrays in one dynamic piece, next to a static one.
__global__ void carved_kernel(int* out, int n) {
  extern __shared__ unsigned char bytes[];
  __shared__ int offset;
  int* a = reinterpret_cast<int*>(bytes);
  float* b = reinterpret_cast<float*>(a + n);
  if (threadIdx.x == 0) offset = 1000;
  a[threadIdx.x] = threadIdx.x;
  b[threadIdx.x] = 2.0f * threadIdx.x;
  __syncthreads();
  const int other = n - 1 - threadIdx.x;
  out[threadIdx.x] = offset + a[other] + static_cast<int>(b[other]);
}

// Each block has its own.
__global__ void own_kernel(int* out) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, 1 + static_cast<int>(blockIdx.x));
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// A tree, halved by barriers.
__global__ void tree_kernel(const int* in, int* out) {
  __shared__ int part[256];
  part[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  for (unsigned half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

void static_shared() {
  Array<int> ints(8 * kThreads);
  reverse_kernel<<<8, kThreads>>>(ints.data());
  FINISHED();
  for (int k = 0; k < 8 * kThreads; ++k) {
    CHECK_EQUAL(ints[k], k / kThreads * kThreads + kThreads - 1 - k % kThreads);
  }

  Array<float> floats(kThreads), more_floats(kThreads);
  several_kernel<<<1, kThreads>>>(floats.data());
  FINISHED();
  for (int k = 0; k < kThreads; ++k) {
    CHECK_EQUAL(floats[k], k + (k == 0 ? 100.0f : 2.0f * (k - 1)) + 0.5f);
  }

  for (int k = 0; k < kThreads; ++k) floats[k] = k;
  transpose_kernel<<<1, dim3(8, 8)>>>(floats.data(), more_floats.data());
  FINISHED();
  for (int k = 0; k < 64; ++k) CHECK_EQUAL(more_floats[k], 8 * (k % 8) + k / 8);

  cube_kernel<<<1, dim3(4, 3, 2)>>>(ints.data());
  FINISHED();
  for (int k = 0; k < 24; ++k) {
    CHECK_EQUAL(ints[k], (3 - k % 4) + 10 * (2 - k / 4 % 3) + 100 * (1 - k / 12));
  }

  Array<double> doubles(kThreads);
  struct_kernel<<<1, kThreads>>>(doubles.data());
  FINISHED();
  for (int k = 0; k < kThreads; ++k) CHECK_EQUAL(doubles[k], 0.25 * (kThreads - 1 - k) + 1);

  template_kernel<double, 48><<<1, 48>>>(doubles.data());
  template_kernel<float, kThreads><<<1, kThreads>>>(floats.data());
  function_kernel<<<1, kThreads>>>(more_floats.data());
  FINISHED();
  for (int k = 0; k < 48; ++k) CHECK_EQUAL(doubles[k], 0.5 * ((k + 1) % 48));
  for (int k = 0; k < kThreads; ++k) {
    CHECK_EQUAL(floats[k], 0.5f * ((k + 1) % kThreads));
    CHECK_EQUAL(more_floats[k], 3.0f * ((k + 1) % kThreads));
  }

  aligned_kernel<<<1, 1>>>(ints.data());
  FINISHED();
  CHECK_EQUAL(ints[0], 0);
}

void dynamic_shared() {
  Array<double> doubles(28 * 1024);
  const int most = 48 * 1024 / sizeof(double);
  for (const int n : {1, 33, 1000, most}) {
    dynamic_kernel<<<1, 128, n * sizeof(double)>>>(doubles.data(), n);
    FINISHED();
    for (int k = 0; k < n; ++k) CHECK_EQUAL(doubles[k], 0.5 * (n - 1 - k));
  }
  const int n = 12 * 1024;  // 96 KiB: only if it was asked for
  CUDA(cudaFuncSetAttribute(dynamic_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                            n * sizeof(double)));
  dynamic_kernel<<<2, 128, n * sizeof(double)>>>(doubles.data(), 0);
  dynamic_kernel<<<1, 128, n * sizeof(double)>>>(doubles.data(), n);
  FINISHED();
  for (int k = 0; k < n; ++k) CHECK_EQUAL(doubles[k], 0.5 * (n - 1 - k));

  Array<int> ints(32);
  carved_kernel<<<1, 32, 32 * (sizeof(int) + sizeof(float))>>>(ints.data(), 32);
  FINISHED();
  for (int k = 0; k < 32; ++k) CHECK_EQUAL(ints[k], 1000 + 3 * (31 - k));
}

// One place for two uses, as a barrier lies between them; and types that are defined on the way.
__global__ void union_kernel(int* out) {
  __shared__ union {
    float tile[4][32];
    int sums[128];
  } shared;
  __shared__ struct Pair { int first, second; } pair, pairs[2];
  const int k = threadIdx.x;
  shared.tile[k / 32][k % 32] = 0.5f * k;
  if (k == 0) pair = {7, 8};
  if (k < 2) pairs[k] = {k, 10 * k};
  __syncthreads();
  const float mine = shared.tile[3 - k / 32][k % 32];
  __syncthreads();
  shared.sums[k] = static_cast<int>(2 * mine);
  __syncthreads();
  out[k] = shared.sums[127 - k] + pair.second - pair.first + pairs[1].second - pairs[0].second;
}

void types_on_the_way() {
  Array<int> out(128);
  union_kernel<<<1, 128>>>(out.data());
  FINISHED();
  for (int k = 0; k < 128; ++k) {
    const int other = 127 - k;
    CHECK_EQUAL(out[k], (3 - other / 32) * 32 + other % 32 + 1 + 10);
  }
}

void blocks() {
  Array<int> out(50), in(50 * 256);
  own_kernel<<<50, 96>>>(out.data());
  FINISHED();
  for (int k = 0; k < 50; ++k) CHECK_EQUAL(out[k], 96 * (k + 1));

  for (int k = 0; k < in.size(); ++k) in[k] = k % 17;
  tree_kernel<<<50, 256>>>(in.data(), out.data());
  FINISHED();
  for (int block = 0; block < 50; ++block) {
    int sum = 0;
    for (int k = 0; k < 256; ++k) sum += (block * 256 + k) % 17;
    CHECK_EQUAL(out[block], sum);
  }
}

// The last steps of a sum as they were written before __syncwarp: of volatile memory.
__global__ void volatile_kernel(double* out) {
  __shared__ volatile double sum[64];
  const int t = threadIdx.x;
  sum[t] = t;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (t < half) sum[t] += sum[t + half];
    __syncthreads();
  }
  if (t == 0) *out = sum[0];
}

void volatile_sum() {
  Array<double> out(1);
  volatile_kernel<<<1, 64>>>(out.data());
  FINISHED();
  CHECK_EQUAL(out[0], 63 * 32);
}

int main() {
  volatile_sum();
  static_shared();
  dynamic_shared();
  blocks();
  types_on_the_way();
  return result();
}
