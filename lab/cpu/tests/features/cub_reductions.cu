// CUB: sums of a block, of a warp, of an array on the device.

#include "check.h"

#include <cub/cub.cuh>
#if CUDART_VERSION >= 13000
#include <cuda/functional>
#include <cuda/std/functional>
#endif

struct Larger {
  template <class T>
  __host__ __device__ T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
};

__device__ int number_in_block() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

template <cub::BlockReduceAlgorithm kAlgorithm, class T, int kX, int kY, int kZ>
__global__ void block_kernel(const T* in, T* out, int valid) {
  using Reduce = cub::BlockReduce<T, kX, kAlgorithm, kY, kZ>;
  __shared__ typename Reduce::TempStorage storage;
  const T mine = in[blockIdx.x * (kX * kY * kZ) + number_in_block()];
  T results[4];
  results[0] = Reduce(storage).Sum(mine);
  __syncthreads();
  results[1] = Reduce(storage).Reduce(mine, Larger());
  __syncthreads();
  results[2] = Reduce(storage).Sum(mine, valid);
  __syncthreads();
  results[3] = Reduce(storage).Reduce(mine, Larger(), valid);
  if (number_in_block() == 0) {
    for (int k = 0; k < 4; ++k) out[4 * blockIdx.x + k] = results[k];
  }
}

template <cub::BlockReduceAlgorithm kAlgorithm, class T, int kX, int kY, int kZ>
void block() {
  constexpr int kThreads = kX * kY * kZ, kBlocks = 3;
  Array<T> in(kBlocks * kThreads), out(4 * kBlocks);
  for (int k = 0; k < in.size(); ++k) in[k] = static_cast<T>((k * 37) % 101) - 50;
  for (const int valid : {kThreads, 1, kThreads / 2 + 1}) {
    block_kernel<kAlgorithm, T, kX, kY, kZ>
        <<<kBlocks, dim3(kX, kY, kZ)>>>(in.data(), out.data(), valid);
    FINISHED();
    for (int b = 0; b < kBlocks; ++b) {
      const T* mine = in.data() + b * kThreads;
      T sum = 0, most = mine[0], sum_of_valid = 0, most_of_valid = mine[0];
      for (int k = 0; k < kThreads; ++k) {
        sum += mine[k];
        most = Larger()(most, mine[k]);
        if (k < valid) sum_of_valid += mine[k];
        if (k < valid) most_of_valid = Larger()(most_of_valid, mine[k]);
      }
      CHECK_EQUAL(out[4 * b], sum);
      CHECK_EQUAL(out[4 * b + 1], most);
      CHECK_EQUAL(out[4 * b + 2], sum_of_valid);
      CHECK_EQUAL(out[4 * b + 3], most_of_valid);
    }
  }
}

// Three values of each thread.
__global__ void items_kernel(double* out) {
  using Reduce = cub::BlockReduce<double, 64>;
  __shared__ typename Reduce::TempStorage storage;
  double items[3];
  for (int k = 0; k < 3; ++k) items[k] = 3 * threadIdx.x + k;
  const double sum = Reduce(storage).Sum(items);
  __syncthreads();
  const double most = Reduce(storage).Reduce(items, Larger());
  if (threadIdx.x == 0) {
    out[0] = sum;
    out[1] = most;
  }
}

void items() {
  Array<double> out(2);
  items_kernel<<<1, 64>>>(out.data());
  FINISHED();
  CHECK_EQUAL(out[0], 191 * 192 / 2);
  CHECK_EQUAL(out[1], 191);
}

// Storage that CUB brings along.
__global__ void own_storage_kernel(double* out) {
  using Reduce = cub::BlockReduce<double, 64>;
  const double sum = Reduce().Sum(double(threadIdx.x));
  __syncthreads();
  const double most = Reduce().Reduce(double(threadIdx.x), Larger());
  if (threadIdx.x == 0) out[blockIdx.x] = sum + 1000 * most;
}

void own_storage() {
  Array<double> out(3);
  own_storage_kernel<<<3, 64>>>(out.data());
  FINISHED();
  for (int b = 0; b < 3; ++b) CHECK_EQUAL(out[b], 63 * 64 / 2 + 63000);
}

// The sums of the warps, and of parts of them.
__global__ void warp_kernel(const double* in, double* sums, int* most_of_eight) {
  using Reduce = cub::WarpReduce<double>;
  using ReduceEight = cub::WarpReduce<int, 8>;
  __shared__ Reduce::TempStorage storage[4];
  __shared__ ReduceEight::TempStorage eights[16];
  const int t = threadIdx.x;
  const double sum = Reduce(storage[t / 32]).Sum(in[t]);
  const int most = ReduceEight(eights[t / 8]).Reduce(t * 5 % 8, Larger());
  if (t % 32 == 0) sums[t / 32] = sum;
  if (t % 8 == 0) most_of_eight[t / 8] = most;
}

// Only one warp of the block.
__global__ void one_warp_kernel(float* out) {
  __shared__ cub::WarpReduce<float>::TempStorage storage;
  if (threadIdx.x >= 32) return;
  const float sum = cub::WarpReduce<float>(storage).Sum(0.5f * threadIdx.x);
  if (threadIdx.x == 0) *out = sum;
}

void warps() {
  Array<double> in(128), sums(4);
  Array<int> most(16);
  for (int k = 0; k < 128; ++k) in[k] = 0.5 * k;
  warp_kernel<<<1, 128>>>(in.data(), sums.data(), most.data());
  Array<float> one(1);
  one_warp_kernel<<<1, 96>>>(one.data());
  FINISHED();
  for (int w = 0; w < 4; ++w) CHECK_EQUAL(sums[w], 0.5 * (32 * 32 * w + 496));
  for (int k = 0; k < 16; ++k) CHECK_EQUAL(most[k], 7);
  CHECK_EQUAL(one[0], 248);
}

template <class Call>
void reduce(Call call, double expected, const char* words, int line) {
  Array<double> out(1);
  void* storage = nullptr;
  size_t bytes = 0;
  CUDA(call(storage, bytes, out.data()));
  CHECK(bytes > 0);
  CUDA(cudaMalloc(&storage, bytes));
  CUDA(call(storage, bytes, out.data()));
  CUDA(cudaDeviceSynchronize());
  check_equal(out[0], expected, words, __FILE__, line);
  CUDA(cudaFree(storage));
}
// `call`: of a reduction of in[0] to in[n - 1] into out.
#define REDUCE(expected, ...)                                                              \
  reduce([&](void* storage, size_t& bytes, double* out) { return __VA_ARGS__; }, expected, \
         #__VA_ARGS__, __LINE__)

void device() {
  const int n = 100003;
  Array<double> in(n);
  double sum = 0;
  for (int k = 0; k < n; ++k) sum += in[k] = (k * 7919ll) % 1009 - 500;
  const double* p = in.data();
  REDUCE(sum, cub::DeviceReduce::Sum(storage, bytes, p, out, n));
  REDUCE(508, cub::DeviceReduce::Reduce(storage, bytes, p, out, n, cub::Max(), -600.0));
  REDUCE(-500, cub::DeviceReduce::Reduce(storage, bytes, p, out, n, cub::Min(), 600.0));
  REDUCE(600, cub::DeviceReduce::Reduce(storage, bytes, p, out, n, Larger(), 600.0));
  REDUCE(508, cub::DeviceReduce::Reduce(storage, bytes, p, out, n, Larger(), -600.0));
  REDUCE(in[0], cub::DeviceReduce::Sum(storage, bytes, p, out, 1));

  cudaStream_t stream;
  CUDA(cudaStreamCreate(&stream));
  REDUCE(sum, cub::DeviceReduce::Sum(storage, bytes, p, out, n, stream));
  CUDA(cudaStreamDestroy(stream));
}

#if CUDART_VERSION >= 13000
// The functions of the toolkit that took the place of cub::Max and its like.
__global__ void functions_kernel(int* out) {
  using Reduce = cub::BlockReduce<int, 64>;
  __shared__ Reduce::TempStorage storage;
  const int x = threadIdx.x * 11 % 64;
  const int most = Reduce(storage).Reduce(x, cuda::maximum<>{});
  __syncthreads();
  const int least = Reduce(storage).Reduce(x, cuda::minimum<int>{});
  __syncthreads();
  const int sum = Reduce(storage).Reduce(x, cuda::std::plus<>{});
  if (threadIdx.x == 0) {
    out[0] = most;
    out[1] = least;
    out[2] = sum;
  }
}
#endif

int main() {
  items();
  own_storage();
  block<cub::BLOCK_REDUCE_WARP_REDUCTIONS, int, 128, 1, 1>();
  block<cub::BLOCK_REDUCE_WARP_REDUCTIONS, double, 32, 4, 1>();
  block<cub::BLOCK_REDUCE_RAKING, double, 8, 4, 3>();
  block<cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, float, 256, 1, 1>();
  block<cub::BLOCK_REDUCE_WARP_REDUCTIONS, long long, 1024, 1, 1>();
  block<cub::BLOCK_REDUCE_WARP_REDUCTIONS, int, 20, 1, 1>();
  warps();
  device();
#if CUDART_VERSION >= 13000
  Array<int> out(3);
  functions_kernel<<<1, 64>>>(out.data());
  FINISHED();
  CHECK_EQUAL(out[0], 63);
  CHECK_EQUAL(out[1], 0);
  CHECK_EQUAL(out[2], 2016);
#endif
#ifdef __CUDA_ON_CPU__
  // Older toolkits have these.
  CHECK_EQUAL(cub::Max()(2, 3) + cub::Min()(2, 3) + cub::Sum()(2, 3), 10);
#endif
  return result();
}
