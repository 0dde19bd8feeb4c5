// count: @coalesced        global load   4  2 64   8  0  0  0  0
// count: @coalesced        global store  4  2 64   8  0  0  0  0
// count: @strided          global load   4  2 64  64  0  0  0  0
// count: @strided          global store  4  2 64  64  0  0  0  0
// count: @misaligned       global load   4  2 64  10  0  0  0  0
// count: @misaligned       global store  4  2 64  10  0  0  0  0
// count: @reverse          global load   4  2 64   8  0  0  0  0
// count: @reverse          global store  4  2 64   8  0  0  0  0
// count: @everyone         global load   4  2 64   2  0  0  0  0
// count: @everyone         global store  4  2 64   8  0  0  0  0
// count: @fours            global load  16  2 64  32  0  0  0  0
// count: @fours            global store 16  2 64  32  0  0  0  0
// count: @twos             global load   8  2 64  16  0  0  0  0
// count: @twos             global store  8  2 64  16  0  0  0  0
// count: @bytes            global load   1  2 64   2  0  0  0  0
// count: @bytes            global store  1  2 64   2  0  0  0  0
// count: @whole            global load 256  2 64 512  0  0  0  0
// count: @whole            global store 256 2 64 512  0  0  0  0
// count: @rows             global load   4  2 64   8  0  0  0  0
// count: @rows             global store  4  2 64  32  0  0  0  0
// count: @one_sum          global atomic 4  2 64   2  0  0  1 64
// count: @own_sums         global atomic 4  2 64   8  0  0 64  1
// count: @few_sums         global atomic 8  2 64   8  0  0  4 16
// count: @reset            shared store  4  1  1   0  1  0  0  0
// count: @shared_sum       shared atomic 4  2 64   0  2  0  1 64
// count: @no_conflict      shared store  4  2 64   0  2  0  0  0
// count: @no_conflict_load shared load   4  2 64   0  2  0  0  0
// count: @no_conflict_load global store  4  2 64   8  0  0  0  0
// count: @two_ways         shared store  4  2 64   0  4  2  0  0
// count: @column           shared store  4  2 64   0 64 62  0  0
// count: @padded           shared store  4  2 64   0  2  0  0  0
// count: @same_word        shared load   4  2 64   0  2  0  0  0
// count: @same_word        global store  4  2 64   8  0  0  0  0
// count: @doubles          shared store  8  2 64   0  4  0  0  0
// count: @quads            shared store 16  2 64   0  8  0  0  0
//
// SPACE ACCESS BYTES, then of both warps: requests, threads, sectors, wavefronts, bank conflicts,
// addresses of atomics, and the most of them at one address.

#include <check.h>

struct Arrays {
  float *in, *out;
  double* sums;
};

__global__ void coalesced_kernel(Arrays a) {
  const int t = threadIdx.x;
  a.out[t] = a.in[t];  // @coalesced
}
__global__ void strided_kernel(Arrays a) {
  const int t = threadIdx.x;
  a.out[32 * t] = a.in[8 * t];  // @strided
}
__global__ void misaligned_kernel(Arrays a) {
  const int t = threadIdx.x;
  a.out[t + 7] = a.in[t + 1];  // @misaligned
}
__global__ void reverse_kernel(Arrays a) {
  const int t = threadIdx.x;
  a.out[63 - t] = a.in[t ^ 1];  // @reverse
}
__global__ void everyone_kernel(Arrays a) {
  const int t = threadIdx.x;
  a.out[t] = a.in[5];  // @everyone
}
__global__ void wide_kernel(Arrays a) {
  const int t = threadIdx.x;
  float4* out4 = reinterpret_cast<float4*>(a.out);
  const float4* in4 = reinterpret_cast<const float4*>(a.in);
  out4[t] = in4[t];  // @fours
  float2* out2 = reinterpret_cast<float2*>(a.out);
  const float2* in2 = reinterpret_cast<const float2*>(a.in);
  out2[t + 128] = in2[t];  // @twos
  char* out1 = reinterpret_cast<char*>(a.out);
  const char* in1 = reinterpret_cast<const char*>(a.in);
  out1[t + 2048] = in1[t];  // @bytes
}
struct Large {
  float parts[64];
};
// Copied whole, each thread touches all sectors of its struct.
__global__ void large_kernel(Arrays a) {
  const int t = threadIdx.x;
  reinterpret_cast<Large*>(a.out)[t] = reinterpret_cast<const Large*>(a.in)[t];  // @whole
}
// In two dimensions x runs first: two rows of 16 form a warp.
__global__ void rows_kernel(Arrays a) {
  const int x = threadIdx.x, y = threadIdx.y;
  a.out[32 * x + y] = a.in[32 * y + x];  // @rows
}
__global__ void sums_kernel(Arrays a) {
  __shared__ int sum;
  const int t = threadIdx.x;
  if (t == 0) sum = 0;  // @reset
  __syncthreads();
  atomicAdd(&a.out[0], 1.0f);            // @one_sum
  atomicAdd(&a.out[64 + t], 1.0f);       // @own_sums
  atomicAdd(&a.sums[8 * (t % 4)], 1.0);  // @few_sums
  atomicAdd(&sum, 1);                    // @shared_sum
}
__global__ void shared_kernel(Arrays a) {
  __shared__ float one[64], two[128], padded[64][33];
  extern __shared__ float column[];
  __shared__ double doubles[64];
  __shared__ float4 quads[64];
  const int t = threadIdx.x;
  one[t] = 1;           // @no_conflict
  two[2 * t] = 1;       // @two_ways
  column[32 * t] = 1;   // @column
  padded[t][0] = 1;     // @padded
  doubles[t] = 1;       // @doubles
  quads[t] = float4{};  // @quads
  __syncthreads();
  a.out[t] = one[t ^ 3];   // @no_conflict_load
  a.out[64 + t] = one[7];  // @same_word
}

int main() {
  Arrays a{};
  const size_t bytes = 4096 * sizeof(float);
  CUDA_CHECK(cudaMalloc(&a.in, bytes));
  CUDA_CHECK(cudaMalloc(&a.out, bytes));
  CUDA_CHECK(cudaMalloc(&a.sums, 32 * sizeof(double)));
  CUDA_CHECK(cudaMemset(a.in, 0, bytes));
  CUDA_CHECK(cudaMemset(a.out, 0, bytes));
  CUDA_CHECK(cudaMemset(a.sums, 0, 32 * sizeof(double)));
  coalesced_kernel<<<1, 64>>>(a);
  strided_kernel<<<1, 64>>>(a);
  misaligned_kernel<<<1, 64>>>(a);
  reverse_kernel<<<1, 64>>>(a);
  everyone_kernel<<<1, 64>>>(a);
  wide_kernel<<<1, 64>>>(a);
  large_kernel<<<1, 64>>>(a);
  rows_kernel<<<1, dim3(16, 4)>>>(a);
  sums_kernel<<<1, 64>>>(a);
  shared_kernel<<<1, 64, 64 * 32 * sizeof(float)>>>(a);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
