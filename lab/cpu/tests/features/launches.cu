// Launches: grids of every shape, arguments of every kind, device functions, templates.

#include "check.h"

__global__ void count_kernel(int* count) { atomicAdd(count, 1); }

__global__ void number_kernel(int* numbers, int n) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < n) numbers[k] = k;
}

__global__ void nothing_kernel() {}

struct Weights {
  float center, neighbour;
  int power[3];
};

__host__ __device__ inline float weigh(const Weights& w, float x) {
  return w.center * x + w.neighbour * w.power[2];
}

__global__ void arguments_kernel(double* out, char c, short s, unsigned long long u, float f,
                                 double d, bool b, Weights w, const float* p, float4 v) {
  out[0] = c;
  out[1] = s;
  out[2] = static_cast<double>(u);
  out[3] = f;
  out[4] = d;
  out[5] = b;
  out[6] = weigh(w, 2.0f);
  out[7] = p == nullptr;
  out[8] = v.w;
}

template <class T, int kFactor>
__global__ void scale_kernel(T* x, T by) {
  x[threadIdx.x] = x[threadIdx.x] * by * kFactor;
}

template <class Function>
__global__ void apply_kernel(int* x, Function f) {
  x[threadIdx.x] = f(x[threadIdx.x]);
}

struct AddSeven {
  __host__ __device__ int operator()(int x) const { return x + 7; }
};

__device__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }

__device__ __forceinline__ int square(int x) { return x * x; }

__global__ void __launch_bounds__(64) function_kernel(int* out) {
  out[threadIdx.x] = factorial(threadIdx.x % 8) + square(threadIdx.x);
}

__global__ void early_return_kernel(int* out, int n) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= n) return;
  for (int step = 0; step < k; ++step) {
    if (step == 5) return;
    out[k] = step + 1;
  }
}

// Each launch sees what the one before it has done.
__global__ void double_kernel(int* x) { x[threadIdx.x] *= 2; }

namespace nested {
__global__ void fill_kernel(int* x, int value) { x[threadIdx.x] = value; }
}  // namespace nested

void grids() {
  const dim3 grids[] = {dim3(1), dim3(7), dim3(3, 4), dim3(2, 3, 5), dim3(1, 1, 9)};
  const dim3 blocks[] = {dim3(1),        dim3(31),       dim3(33),       dim3(1024),
                         dim3(5, 7),     dim3(4, 4, 4),  dim3(1, 1, 64), dim3(1, 1024),
                         dim3(16, 8, 8), dim3(32, 1, 32)};
  Array<int> count(1);
  for (const dim3 grid : grids) {
    for (const dim3 block : blocks) {
      count[0] = 0;
      count_kernel<<<grid, block>>>(count.data());
      FINISHED();
      CHECK_EQUAL(count[0], grid.x * grid.y * grid.z * block.x * block.y * block.z);
    }
  }
}

void ragged_end() {
  const int n = 1000;
  Array<int> numbers(n);
  number_kernel<<<(n + 255) / 256, 256>>>(numbers.data(), n);
  FINISHED();
  for (int k = 0; k < n; ++k) CHECK_EQUAL(numbers[k], k);
}

void arguments() {
  Array<double> out(9);
  const Weights w{0.5f, 0.25f, {1, 2, 8}};
  arguments_kernel<<<1, 1>>>(out.data(), 'A', -3, 1ull << 40, 1.5f, 0.1, true, w, nullptr,
                             make_float4(1, 2, 3, 4));
  FINISHED();
  const double expected[] = {65, -3, 1099511627776.0, 1.5, 0.1, 1, 3, 1, 4};
  for (int k = 0; k < 9; ++k) CHECK_EQUAL(out[k], expected[k]);

  // The argument's value is that at the launch.
  Array<int> x(1);
  int value = 5;
  nested::fill_kernel<<<1, 1>>>(x.data(), value);
  value = 6;
  FINISHED();
  CHECK_EQUAL(x[0], 5);
}

void templates_and_functions() {
  Array<float> x(64);
  for (int k = 0; k < 64; ++k) x[k] = k;
  scale_kernel<float, 3><<<1, 64>>>(x.data(), 2.0f);
  FINISHED();
  for (int k = 0; k < 64; ++k) CHECK_EQUAL(x[k], 6.0f * k);

  Array<int> y(64);
  apply_kernel<<<1, 64>>>(y.data(), AddSeven());
  FINISHED();
  for (int k = 0; k < 64; ++k) CHECK_EQUAL(y[k], 7);

  function_kernel<<<1, 64>>>(y.data());
  FINISHED();
  const int factorials[] = {1, 1, 2, 6, 24, 120, 720, 5040};
  for (int k = 0; k < 64; ++k) CHECK_EQUAL(y[k], factorials[k % 8] + k * k);
}

void returns() {
  Array<int> out(100);
  early_return_kernel<<<4, 32>>>(out.data(), 100);
  FINISHED();
  for (int k = 0; k < 100; ++k) CHECK_EQUAL(out[k], k < 5 ? k : 5);
}

// By a call, with the arguments' addresses.
void calls() {
  Array<float> x(64);
  for (int k = 0; k < 64; ++k) x[k] = k;
  float* p = x.data();
  float by = 2;
  void* arguments[] = {&p, &by};
  CUDA(cudaLaunchKernel((void*)scale_kernel<float, 3>, dim3(1), dim3(64), arguments, 0, nullptr));
  CUDA(cudaDeviceSynchronize());
  for (int k = 0; k < 64; ++k) CHECK_EQUAL(x[k], 6.0f * k);
  CHECK(cudaLaunchKernel(scale_kernel<float, 3>, dim3(1), dim3(2048), arguments) ==
        cudaErrorInvalidConfiguration);
  (void)cudaGetLastError();
}

void many() {
  Array<int> x(32);
  nested::fill_kernel<<<1, 32>>>(x.data(), 1);
  for (int k = 0; k < 10; ++k) double_kernel<<<1, 32>>>(x.data());
  FINISHED();
  for (int k = 0; k < 32; ++k) CHECK_EQUAL(x[k], 1024);
  for (int k = 0; k < 3000; ++k) nothing_kernel<<<1, 1>>>();
  FINISHED();
}

int main() {
  nothing_kernel<<<1, 1>>>();
  FINISHED();
  grids();
  ragged_end();
  arguments();
  templates_and_functions();
  returns();
  calls();
  many();
  return result();
}
