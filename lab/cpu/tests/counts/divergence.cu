// count: @odd            global store 4   2  32   8  0  0  0  0
// count: @all            global store 4   2  64   8  0  0  0  0
// count: @rare_load      global load  4   8  64  32  0  0  0  0
// count: @each_round     global store 4   8 256  32  0  0  0  0
// count: @trips_load     global load  4   6  96  24  0  0  0  0
// count: @after_trips    global store 4   2  64   8  0  0  0  0
// count: @in_function    global load  4   4  96  16  0  0  0  0
// count: @function_sum   global store 4   2  64   8  0  0  0  0
// count: @early          global store 4   2  40   5  0  0  0  0
// count: @then           global store 4   2  24   4  0  0  0  0
// count: @otherwise      global store 4   2  40   6  0  0  0  0
// count: @inner          global store 4   2  12   4  0  0  0  0
// count: @joined         global store 4   2  64   8  0  0  0  0
// count: @case_zero      global store 4   2  16   8  0  0  0  0
// count: @case_one       global store 4   2  16   8  0  0  0  0
// count: @case_default   global store 4   2  32   8  0  0  0  0
// count: @after_switch   global store 4   2  64   8  0  0  0  0
// count: @search         global load  4  10 240  40  0  0  0  0
// count: @found          global store 4   2  64   8  0  0  0  0
// count: @skip_load      global load  4   8 192  32  0  0  0  0
// count: @after_skip     global store 4   2  64   8  0  0  0  0
// count: @after_barrier  global store 4   2  64   8  0  0  0  0
// count: @left_alone     global store 4   1   1   1  0  0  0  0
// count: @once           global store 4   2  64   8  0  0  0  0
//
// SPACE ACCESS BYTES, then of both warps: requests, threads, sectors, and what is zero here. A
// request is an instruction of a warp: lanes that go different ways take several, and meet again
// behind.

#include <check.h>

__global__ void if_kernel(float* out) {
  const int t = threadIdx.x;
  if (t % 2 == 1) out[t] = 1;  // @odd
  out[64 + t] = 1;             // @all
}

// In every round other lanes go into the branch: a quarter of them.
__global__ void if_in_loop_kernel(const float* in, float* out) {
  const int t = threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 4; ++k) {
    if ((t + k) % 4 == 0) {
      sum += in[64 * k + t];  // @rare_load
    }
    out[64 * k + t] = sum;  // @each_round
  }
}

// 0, 1, 2 or 3 rounds.
__global__ void trips_kernel(const float* in, float* out) {
  const int t = threadIdx.x;
  float sum = 0;
  for (int k = 0; k < t % 4; ++k) sum += in[64 * k + t];  // @trips_load
  out[t] = sum;                                           // @after_trips
}

__device__ __attribute__((noinline)) float load(const float* p) {
  return *p;  // @in_function
}

// Called by the even lanes, and by all.
__global__ void function_kernel(const float* in, float* out) {
  const int t = threadIdx.x;
  float sum = 0;
  if (t % 2 == 0) sum += load(in + t);
  sum += load(in + 64 + t);
  out[t] = sum;  // @function_sum
}

__global__ void return_kernel(float* out) {
  const int t = threadIdx.x;
  if (t >= 40) return;
  out[t] = 1;  // @early
}

__global__ void nested_kernel(float* out) {
  const int t = threadIdx.x, lane = t % 32;
  if (lane < 12) {
    out[t] = 1;                          // @then
    if (lane % 2 == 0) out[64 + t] = 2;  // @inner
  } else {
    out[t] = 3;  // @otherwise
  }
  out[128 + t] = 4;  // @joined
}

__global__ void switch_kernel(float* out) {
  const int t = threadIdx.x;
  switch (t % 4) {
    case 0:
      out[t] = 1;  // @case_zero
      break;
    case 1:
      out[t + 64] = 2;  // @case_one
      break;
    default:
      out[t + 128] = 3;  // @case_default
  }
  out[t + 192] = 4;  // @after_switch
}

// Lane l finds what it looks for in round l % 8, or gives up after five.
__global__ void break_kernel(const float* in, float* out) {
  const int t = threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 5; ++k) {
    sum += in[64 * k + t];  // @search
    if (k == t % 8) break;
  }
  out[t] = sum;  // @found
}

__global__ void continue_kernel(const float* in, float* out) {
  const int t = threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 4; ++k) {
    if (t % 4 == k) continue;
    sum += in[64 * k + t];  // @skip_load
  }
  out[t] = sum;  // @after_skip
}

__global__ void barrier_kernel(float* out) {
  const int t = threadIdx.x;
  if (t == 3) out[t] = 1;  // @left_alone
  __syncthreads();
  out[64 + t] = 1;  // @after_barrier
}

// What no lane does is no request.
__global__ void never_kernel(float* out, int n) {
  const int t = threadIdx.x;
  if (t > n) out[t] = 1;
  out[64 + t] = 1;  // @once
}

int main() {
  float *in, *out;
  const size_t bytes = 1024 * sizeof(float);
  CUDA_CHECK(cudaMalloc(&in, bytes));
  CUDA_CHECK(cudaMalloc(&out, bytes));
  CUDA_CHECK(cudaMemset(in, 0, bytes));
  if_kernel<<<1, 64>>>(out);
  if_in_loop_kernel<<<1, 64>>>(in, out);
  trips_kernel<<<1, 64>>>(in, out);
  function_kernel<<<1, 64>>>(in, out);
  return_kernel<<<1, 64>>>(out);
  nested_kernel<<<1, 64>>>(out);
  switch_kernel<<<1, 64>>>(out);
  break_kernel<<<1, 64>>>(in, out);
  continue_kernel<<<1, 64>>>(in, out);
  barrier_kernel<<<1, 64>>>(out);
  never_kernel<<<1, 64>>>(out, 1000);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
