// Every atomic function, for every type that CUDA has it for: the result, and what each call
// returns.

#include "check.h"

#include <algorithm>
#include <cuda/atomic>
#include <vector>

constexpr int kBlocks = 5, kThreads = 96, kCount = kBlocks * kThreads;

template <class T>
__global__ void add_kernel(T* x, T* before, T value) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  before[k] = atomicAdd(x, value);
}

template <class T>
__global__ void subtract_kernel(T* x, T value) {
  atomicSub(x, value);
}

// Many threads, few addresses.
template <class T>
__global__ void histogram_kernel(T* bins) {
  atomicAdd(&bins[(blockIdx.x * blockDim.x + threadIdx.x) % 7], T{1});
}

template <class T>
__global__ void extremes_kernel(T* least, T* most, T offset) {
  const T mine = static_cast<T>(blockIdx.x * blockDim.x + threadIdx.x) + offset;
  atomicMin(least, mine);
  atomicMax(most, mine);
}

// Each value is handed on exactly once: the last one stays.
template <class T>
__global__ void exchange_kernel(T* x, T* before) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  before[k] = atomicExch(x, static_cast<T>(k + 1));
}

template <class T>
__global__ void swap_kernel(T* x, int* winners) {
  const T mine = static_cast<T>(threadIdx.x + 1);
  if (atomicCAS(x, T{0}, mine) == T{0}) atomicAdd(winners, 1);
}

__global__ void wrap_kernel(unsigned* up, unsigned last) { atomicInc(up, last); }

// What CUDA lacks is made of compare-and-swap.
__device__ double atomic_max(double* p, double value) {
  auto* bits = reinterpret_cast<unsigned long long*>(p);
  unsigned long long old = atomicCAS(bits, 0ull, 0ull), assumed;
  do {
    assumed = old;
    if (__longlong_as_double(assumed) >= value) break;
    old = atomicCAS(bits, assumed, __double_as_longlong(value));
  } while (old != assumed);
  return __longlong_as_double(old);
}

__global__ void largest_kernel(double* largest) {
  atomic_max(largest, (blockIdx.x * blockDim.x + threadIdx.x) % 401 * 0.5);
}

// Not below zero: floats are then ordered as their bits.
__global__ void largest_float_kernel(float* largest) {
  atomicMax(reinterpret_cast<int*>(largest), __float_as_int(0.25f * threadIdx.x));
}

__global__ void shared_kernel(unsigned* total, float* sum) {
  __shared__ unsigned count;
  __shared__ float part;
  if (threadIdx.x == 0) {
    count = 0;
    part = 0;
  }
  __syncthreads();
  atomicAdd(&count, threadIdx.x);
  atomicAdd(&part, 0.5f);
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(total, count);
    atomicAdd(sum, part);
  }
}

template <class T>
void add(T value) {
  Array<T> x(1), before(kCount), bins(7);
  add_kernel<<<kBlocks, kThreads>>>(x.data(), before.data(), value);
  histogram_kernel<<<kBlocks, kThreads>>>(bins.data());
  FINISHED();
  CHECK_EQUAL(x[0], value * static_cast<T>(kCount));
  std::vector<T> seen(before.data(), before.data() + kCount);
  std::sort(seen.begin(), seen.end());
  std::vector<T> expected(kCount);
  for (int k = 0; k < kCount; ++k) expected[k] = value * static_cast<T>(k);
  std::sort(expected.begin(), expected.end());
  CHECK(seen == expected);
  for (int k = 0; k < 7; ++k) CHECK_EQUAL(bins[k], (kCount + 6 - k) / 7);
}

template <class T>
void subtract() {
  Array<T> x(1);
  x[0] = 100000;
  subtract_kernel<<<kBlocks, kThreads>>>(x.data(), T{3});
  FINISHED();
  CHECK_EQUAL(x[0], 100000 - 3 * kCount);
}

template <class T>
void extremes(T offset) {
  Array<T> least(1), most(1);
  least[0] = most[0] = offset + 5;
  extremes_kernel<<<kBlocks, kThreads>>>(least.data(), most.data(), offset);
  FINISHED();
  CHECK_EQUAL(least[0], offset);
  CHECK_EQUAL(most[0], offset + (kCount - 1));
}

template <class T>
void exchange() {
  Array<T> x(1), before(kCount);
  exchange_kernel<<<kBlocks, kThreads>>>(x.data(), before.data());
  FINISHED();
  std::vector<T> seen(before.data(), before.data() + kCount);
  seen.push_back(x[0]);
  std::sort(seen.begin(), seen.end());
  for (int k = 0; k <= kCount; ++k) CHECK_EQUAL(seen[k], k);
}

template <class T>
void swap() {
  Array<T> x(1);
  Array<int> winners(1);
  swap_kernel<<<kBlocks, kThreads>>>(x.data(), winners.data());
  FINISHED();
  CHECK_EQUAL(winners[0], 1);
  CHECK(x[0] >= T{1} && x[0] <= T{kThreads});
}

void wrap() {
  Array<unsigned> up(1);
  wrap_kernel<<<kBlocks, kThreads>>>(up.data(), 9);
  FINISHED();
  CHECK_EQUAL(up[0], kCount % 10);
  up[0] = 50;  // beyond the last
  wrap_kernel<<<1, 1>>>(up.data(), 9);
  FINISHED();
  CHECK_EQUAL(up[0], 0);
}

// Only for the threads of the block.
__global__ void scopes_kernel(int* sums, int* largest) {
  __shared__ double sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd_block(&sum, 1);
  atomicAdd_block(&sums[blockIdx.x], 2);
  atomicMax(largest, static_cast<int>(threadIdx.x));
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd_block(&sums[blockIdx.x], static_cast<int>(sum));
}

void scopes() {
  Array<int> sums(kBlocks), largest(1);
  scopes_kernel<<<kBlocks, kThreads>>>(sums.data(), largest.data());
  FINISHED();
  for (int k = 0; k < kBlocks; ++k) CHECK_EQUAL(sums[k], 3 * kThreads);
  CHECK_EQUAL(largest[0], kThreads - 1);
}

// The same by a reference that makes each access to a place an atomic one.
__global__ void reference_kernel(int* x, double* sum, int* slot) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  cuda::atomic_ref<double, cuda::thread_scope_device>(*sum).fetch_add(0.5);
  const cuda::atomic_ref<int, cuda::thread_scope_device> most(x[0]), least(x[1]), count(x[2]);
  most.fetch_max(k, cuda::memory_order_relaxed);
  least.fetch_min(-k, cuda::std::memory_order_relaxed);
  count += 2;
  count.fetch_sub(1);
  const cuda::atomic_ref<int> first(*slot);
  int expected = -1;
  const bool mine = first.compare_exchange_strong(expected, k);
  if (!mine && expected < 0) x[0] = -1;
  if (mine && first.load() != k) first.store(-2);
}

void references() {
  Array<int> x(3), slot(1);
  Array<double> sum(1);
  slot[0] = -1;
  reference_kernel<<<kBlocks, kThreads>>>(x.data(), sum.data(), slot.data());
  FINISHED();
  CHECK_EQUAL(sum[0], 0.5 * kCount);
  CHECK_EQUAL(x[0], kCount - 1);
  CHECK_EQUAL(x[1], 1 - kCount);
  CHECK_EQUAL(x[2], kCount);
  CHECK(slot[0] >= 0 && slot[0] < kCount);
}

// What CUDA's guide gives for GPUs without an atomicAdd of doubles. It begins with a plain read,
// and is right whatever that finds.
__device__ double add_by_comparing(double* address, double value) {
  auto* bits = reinterpret_cast<unsigned long long*>(address);
  unsigned long long old = *bits, assumed;
  do {
    assumed = old;
    old = atomicCAS(bits, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
  } while (assumed != old);
  return __longlong_as_double(old);
}

__global__ void compare_kernel(double* sum) {
  __shared__ double of_block;
  if (threadIdx.x == 0) of_block = 0;
  __syncthreads();
  add_by_comparing(&of_block, 0.5);
  __syncthreads();
  if (threadIdx.x == 0) add_by_comparing(sum, of_block);
}

void comparing() {
  Array<double> sum(1);
  compare_kernel<<<kBlocks, kThreads>>>(sum.data());
  FINISHED();
  CHECK_EQUAL(sum[0], 0.5 * kCount);
}

// Every launch adds up, and only the result of the last one counts: it is set to 0 before that.
__global__ void add_kernel(double* sum) { atomicAdd(sum, 0.5); }

void one_of_two_sums() {
  double *sum, host = 0;
  CUDA(cudaMalloc(&sum, sizeof *sum));
  add_kernel<<<kBlocks, kThreads>>>(sum);
  CUDA(cudaMemset(sum, 0, sizeof *sum));
  add_kernel<<<kBlocks, kThreads>>>(sum);
  LAUNCHED();
  CUDA(cudaMemcpy(&host, sum, sizeof host, cudaMemcpyDeviceToHost));
  CUDA(cudaFree(sum));
  CHECK_EQUAL(host, 0.5 * kCount);
}

int main() {
  one_of_two_sums();
  comparing();
  add<int>(-2);
  add<unsigned>(3u);
  add<unsigned long long>(1ull << 33);
  add<float>(0.25f);
  add<double>(0.125);
  subtract<int>();
  subtract<unsigned>();
  extremes<int>(-100);
  extremes<unsigned>(0x80000000u);
  extremes<long long>(-(1ll << 40));
  extremes<unsigned long long>(1ull << 40);
  exchange<int>();
  exchange<unsigned>();
  exchange<unsigned long long>();
  exchange<float>();
  swap<int>();
  swap<unsigned>();
  swap<unsigned long long>();
  wrap();
  scopes();
  references();

  Array<double> largest(1);
  Array<float> largest_float(1), sum(1);
  Array<unsigned> total(1);
  largest_kernel<<<kBlocks, kThreads>>>(largest.data());
  largest_float_kernel<<<kBlocks, kThreads>>>(largest_float.data());
  shared_kernel<<<kBlocks, kThreads>>>(total.data(), sum.data());
  FINISHED();
  CHECK_EQUAL(largest[0], 200.0);
  CHECK_EQUAL(largest_float[0], 0.25f * (kThreads - 1));
  CHECK_EQUAL(total[0], kBlocks * (kThreads * (kThreads - 1) / 2));
  CHECK_EQUAL(sum[0], 0.5f * kCount);
  return result();
}
