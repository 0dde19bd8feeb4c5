// float4 and its like: how large, how aligned, loaded and stored whole.

#include "check.h"

#include <cstddef>

template <class T>
__global__ void layout_kernel(size_t* out) {
  out[0] = sizeof(T);
  out[1] = alignof(T);
}

template <class T>
void layout(size_t size, size_t alignment) {
  CHECK_EQUAL(sizeof(T), size);
  CHECK_EQUAL(alignof(T), alignment);
  Array<size_t> on_device(2);
  layout_kernel<T><<<1, 1>>>(on_device.data());
  FINISHED();
  CHECK_EQUAL(on_device[0], size);
  CHECK_EQUAL(on_device[1], alignment);
}

__global__ void scale4_kernel(const float4* in, float4* out, int n) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= n) return;
  float4 v = in[k];
  v.x *= 2;
  v.y += 1;
  v.z = -v.z;
  out[k] = make_float4(v.x, v.y, v.z, in[k].w);
}

// Four neighbours at once, out of an array of floats.
__global__ void cast_kernel(float* x) {
  const float4 v = reinterpret_cast<const float4*>(x)[threadIdx.x];
  const float2 w = make_float2(v.x + v.y, v.z + v.w);
  reinterpret_cast<float2*>(x)[2 * threadIdx.x] = w;
}

__global__ void integers_kernel(int4* out, const int2* in) {
  const int2 a = in[threadIdx.x];
  const uint2 b = make_uint2(3, 4);
  out[threadIdx.x] = make_int4(a.x, a.y, b.x, b.y);
}

__global__ void shared_kernel(float4* out) {
  __shared__ float4 tile[2][16];
  tile[threadIdx.y][threadIdx.x] = make_float4(threadIdx.x, threadIdx.y, 2, 3);
  __syncthreads();
  out[16 * threadIdx.y + threadIdx.x] = tile[1 - threadIdx.y][15 - threadIdx.x];
}

// Moved whole, though no more aligned than their members.
struct Quad {
  float x, y, z, w;
};
struct Pair {
  double x, y;
};

__global__ void structs_kernel(Quad* quads, Pair* pairs, float3* threes) {
  const int k = threadIdx.x;
  const Quad q = quads[k];
  const Pair p = pairs[k];
  const float3 t = threes[k];
  __syncthreads();
  quads[31 - k] = q;
  pairs[31 - k] = p;
  threes[31 - k] = t;
}

struct __align__(16) Cell {
  float value;
  int i, j;
};

int main() {
  layout<int2>(8, 8);
  layout<uint2>(8, 8);
  layout<float2>(8, 8);
  layout<int3>(12, 4);
  layout<uint3>(12, 4);
  layout<float3>(12, 4);
  layout<int4>(16, 16);
  layout<uint4>(16, 16);
  layout<float4>(16, 16);
  layout<double2>(16, 16);
  layout<Cell>(16, 16);

  const int n = 100;
  Array<float4> in(n), out(n);
  for (int k = 0; k < n; ++k) in[k] = make_float4(k, 2 * k, 3 * k, 4 * k);
  scale4_kernel<<<4, 32>>>(in.data(), out.data(), n);
  FINISHED();
  for (int k = 0; k < n; ++k) {
    CHECK(out[k].x == 2 * k && out[k].y == 2 * k + 1 && out[k].z == -3 * k && out[k].w == 4 * k);
  }

  Array<float> x(128);
  for (int k = 0; k < 128; ++k) x[k] = k;
  cast_kernel<<<1, 32>>>(x.data());
  FINISHED();
  for (int k = 0; k < 128; k += 4) {
    CHECK_EQUAL(x[k], 2 * k + 1);
    CHECK_EQUAL(x[k + 1], 2 * k + 5);
    CHECK_EQUAL(x[k + 3], k + 3);
  }

  Array<int2> pairs(32);
  Array<int4> fours(32);
  for (int k = 0; k < 32; ++k) pairs[k] = make_int2(k, -k);
  integers_kernel<<<1, 32>>>(fours.data(), pairs.data());
  FINISHED();
  for (int k = 0; k < 32; ++k) {
    CHECK(fours[k].x == k && fours[k].y == -k && fours[k].z == 3 && fours[k].w == 4);
  }

  shared_kernel<<<1, dim3(16, 2)>>>(out.data());
  FINISHED();
  for (int k = 0; k < 32; ++k) {
    CHECK(out[k].x == 15 - k % 16 && out[k].y == 1 - k / 16 && out[k].z == 2 && out[k].w == 3);
  }

  // Beginning in the middle of 16 bytes.
  Array<float> quads(4 * 32 + 1), threes(3 * 32 + 1);
  Array<double> doubles(2 * 32 + 1);
  for (int k = 0; k < 4 * 32; ++k) quads[k + 1] = k / 4;
  for (int k = 0; k < 3 * 32; ++k) threes[k + 1] = k / 3;
  for (int k = 0; k < 2 * 32; ++k) doubles[k + 1] = k / 2;
  structs_kernel<<<1, 32>>>(reinterpret_cast<Quad*>(quads.data() + 1),
                            reinterpret_cast<Pair*>(doubles.data() + 1),
                            reinterpret_cast<float3*>(threes.data() + 1));
  FINISHED();
  for (int k = 0; k < 4 * 32; ++k) CHECK_EQUAL(quads[k + 1], 31 - k / 4);
  for (int k = 0; k < 3 * 32; ++k) CHECK_EQUAL(threes[k + 1], 31 - k / 3);
  for (int k = 0; k < 2 * 32; ++k) CHECK_EQUAL(doubles[k + 1], 31 - k / 2);

  const double2 d = make_double2(1, 2);
  const float3 f = make_float3(1, 2, 3);
  const int3 i = make_int3(1, 2, 3);
  const uint4 u = make_uint4(1, 2, 3, 4);
  CHECK(d.y == 2 && f.z == 3 && i.z == 3 && u.w == 4);
  return result();
}
