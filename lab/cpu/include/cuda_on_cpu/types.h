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
// In place of the two where filter/ sees a variable declared.
#define CUDA_ON_CPU_VARIABLE __attribute__((section("cuda_on_cpu_variables")))
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

// Vectors of 2, 3 and 4 numbers, and the functions that make them. As in CUDA, those of 8 and 16
// bytes are aligned to their size: one load or store moves all.
#define CUDA_ON_CPU_VECTOR2(name, type, alignment) \
  struct alignas(alignment) name {                 \
    type x, y;                                     \
  };                                               \
  constexpr name make_##name(type x, type y) { return {x, y}; }
#define CUDA_ON_CPU_VECTOR3(name, type) \
  struct name {                         \
    type x, y, z;                       \
  };                                    \
  constexpr name make_##name(type x, type y, type z) { return {x, y, z}; }
#define CUDA_ON_CPU_VECTOR4(name, type) \
  struct alignas(16) name {             \
    type x, y, z, w;                    \
  };                                    \
  constexpr name make_##name(type x, type y, type z, type w) { return {x, y, z, w}; }
CUDA_ON_CPU_VECTOR2(int2, int, 8)
CUDA_ON_CPU_VECTOR2(uint2, unsigned, 8)
CUDA_ON_CPU_VECTOR2(float2, float, 8)
CUDA_ON_CPU_VECTOR2(double2, double, 16)
CUDA_ON_CPU_VECTOR3(int3, int)
CUDA_ON_CPU_VECTOR3(uint3, unsigned)
CUDA_ON_CPU_VECTOR3(float3, float)
CUDA_ON_CPU_VECTOR4(int4, int)
CUDA_ON_CPU_VECTOR4(uint4, unsigned)
CUDA_ON_CPU_VECTOR4(float4, float)
#undef CUDA_ON_CPU_VECTOR2
#undef CUDA_ON_CPU_VECTOR3
#undef CUDA_ON_CPU_VECTOR4

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};
