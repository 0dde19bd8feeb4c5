// Functions that kernels call without std::, and those that only CUDA has.

#include "check.h"

#include <cmath>

constexpr int kReals = 40, kIntegers = 30;

__host__ __device__ void reals(double* out, float x, double y, int i, unsigned u) {
  int k = 0;
  out[k++] = abs(-x);  // not the abs of int
  out[k++] = abs(-y);
  out[k++] = abs(-i);
  out[k++] = fabsf(-x);
  out[k++] = sqrt(x);  // of float, to float
  out[k++] = sqrt(y);
  out[k++] = fmaxf(x, 2.0f);
  out[k++] = fmin(y, 0.5);
  out[k++] = max(x, 2.0f);
  out[k++] = min(y, 0.5);
  out[k++] = max(i, 12);
  out[k++] = min(i, 12);
  out[k++] = min(u, 12u);
  out[k++] = fmaf(x, x, 1.0f);
  out[k++] = floorf(x);
  out[k++] = ceil(y);
  out[k++] = isnan(x) || isinf(y);
  out[k++] = isfinite(x);
  out[k++] = rint(100 * pow(y, 2.0));
  out[k++] = lrint(y);
}

__global__ void reals_kernel(double* out, float x, double y, int i, unsigned u) {
  reals(out, x, y, i, u);
}

__global__ void mixed_kernel(long long* out, int i, unsigned u, size_t s, long long l) {
  out[0] = min(i, 12u);
  out[1] = max(u, 12);
  out[2] = min(s, static_cast<size_t>(7));
  out[3] = max(l, 7ll);
  out[4] = min(1.5f, 2.5) * 2;
}

__global__ void cuda_only_kernel(double* out, float x, double y) {
  out[0] = rsqrtf(16.0f * x);
  out[1] = rsqrt(4 * y);
  out[2] = sinpif(x / 2);
  out[3] = cospi(y);
  out[4] = __fmaf_rn(x, 2.0f, 3.0f);
  out[5] = __fadd_rn(x, 0.5f);
  out[6] = __fmul_rn(x, 0.5f);
  out[7] = x / 4.0f;
  out[8] = __int_as_float(0x3f800000);
  out[9] = __uint_as_float(0x40000000u);
  out[10] = __longlong_as_double(0x3ff8000000000000ll);
  out[11] = __dmul_rn(y, 1.0);
  out[12] = truncf(1.5f * x);
  out[13] = __dadd_rn(y, 1.0);
}

__global__ void bits_kernel(long long* out, unsigned x, int i) {
  out[0] = __popc(x);
  out[1] = __clz(i);
  out[2] = __ffs(i);
  out[3] = __float_as_int(1.0f);
  out[4] = __float_as_uint(-1.0f);
  out[5] = __double_as_longlong(1.5);
  out[6] = __clz(0) + __ffs(0);
}

__global__ void cached_kernel(const float* in, float* out) {
  const int k = threadIdx.x;
  __stcg(&out[k], __ldg(&in[k]) + __ldcg(&in[k]) + __ldcs(&in[k]));
  __stcs(&out[32 + k], in[k]);
  const float4 v = __ldg(reinterpret_cast<const float4*>(in) + k % 8);
  out[64 + k] = v.w;
}

int main() {
  Array<double> out(kReals);
  double expected[kReals];
  for (const float x : {1.0f, 2.75f, 123.5f}) {
    reals(expected, x, 0.3 * x, 7, 9);
    reals_kernel<<<1, 1>>>(out.data(), x, 0.3 * x, 7, 9);
    FINISHED();
    for (int k = 0; k < 20; ++k) CHECK_EQUAL(out[k], expected[k]);
    CHECK_EQUAL(out[0], x);
    CHECK_EQUAL(out[4], std::sqrt(x));
  }

  Array<long long> integers(kIntegers);
  mixed_kernel<<<1, 1>>>(integers.data(), 5, 20, 9, 3);
  FINISHED();
  const long long mixed[] = {5, 20, 7, 7, 3};
  for (int k = 0; k < 5; ++k) CHECK_EQUAL(integers[k], mixed[k]);

  cuda_only_kernel<<<1, 1>>>(out.data(), 1, 1);
  bits_kernel<<<1, 1>>>(integers.data(), 0x80000007u, 0x00f0);
  FINISHED();
  const double only[] = {0.25, 0.5, 1, -1, 5, 1.5, 0.5, 0.25, 1, 2, 1.5, 1, 1, 2};
  for (int k = 0; k < 14; ++k) CHECK(std::abs(out[k] - only[k]) < 1e-6);  // some are approximate
  const long long bits[] = {4, 24, 5, 0x3f800000, 0xbf800000, 0x3ff8000000000000, 32};
  for (int k = 0; k < 7; ++k) CHECK_EQUAL(integers[k], bits[k]);

  Array<float> in(32), cached(96);
  for (int k = 0; k < 32; ++k) in[k] = k;
  cached_kernel<<<1, 32>>>(in.data(), cached.data());
  FINISHED();
  for (int k = 0; k < 32; ++k) {
    CHECK_EQUAL(cached[k], 3 * k);
    CHECK_EQUAL(cached[32 + k], k);
    CHECK_EQUAL(cached[64 + k], 4 * (k % 8) + 3);
  }
  return result();
}
