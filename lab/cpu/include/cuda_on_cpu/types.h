#pragma once
// The words and the vector types that CUDA adds to C++.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#define __CUDA_ON_CPU__ 1

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
// In a kernel of the .cu file itself filter/ has replaced the word. This is for a macro, a header,
// and what is outside of any kernel.
#define __shared__ \
  _Pragma("GCC error \"CUDA on the CPU does not cover shared memory outside a kernel's text\"")

namespace cuda_on_cpu {

/// An argument that is converted to the type which the others of the call have.
template <class T>
using Same = std::enable_if_t<true, T>;

}  // namespace cuda_on_cpu

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};

// As in CUDA, the types of 8 and 16 bytes are aligned to their size: one load or store moves all.
struct alignas(8) int2 {
  int x, y;
};
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(8) float2 {
  float x, y;
};
struct int3 {
  int x, y, z;
};
struct float3 {
  float x, y, z;
};
struct alignas(16) int4 {
  int x, y, z, w;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(16) double2 {
  double x, y;
};

constexpr int2 make_int2(int x, int y) { return {x, y}; }
constexpr uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
constexpr int3 make_int3(int x, int y, int z) { return {x, y, z}; }
constexpr uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
constexpr float2 make_float2(float x, float y) { return {x, y}; }
constexpr float3 make_float3(float x, float y, float z) { return {x, y, z}; }
constexpr int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
constexpr uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
constexpr float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
constexpr double2 make_double2(double x, double y) { return {x, y}; }
