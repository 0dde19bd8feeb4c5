// Shuffles with widths and masks, votes, __syncwarp.

#include "check.h"

constexpr unsigned kAll = 0xffffffffu;

// Against what the definition says, for each width.
__global__ void widths_kernel(int* out, int width, int by) {
  const int lane = threadIdx.x;
  out[lane] = __shfl_sync(kAll, 100 + lane, by, width);
  out[32 + lane] = __shfl_up_sync(kAll, 100 + lane, by, width);
  out[64 + lane] = __shfl_down_sync(kAll, 100 + lane, by, width);
  out[96 + lane] = __shfl_xor_sync(kAll, 100 + lane, by, width);
}

template <class T>
__global__ void type_kernel(T* out, T step) {
  out[threadIdx.x] = __shfl_sync(kAll, step * static_cast<T>(threadIdx.x), (threadIdx.x + 1) % 32);
}

__inline__ __device__ double warp_sum(double x) {
  for (int by = 16; by > 0; by /= 2) x += __shfl_down_sync(kAll, x, by);
  return x;
}

__global__ void sums_kernel(double* out, int* butterfly) {
  const double sum = warp_sum(1.0 + threadIdx.x);
  if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = sum;
  int x = threadIdx.x;
  for (int lanes = 1; lanes < 32; lanes *= 2) x = max(x, __shfl_xor_sync(kAll, x, lanes));
  butterfly[threadIdx.x] = x;
}

// The two halves of a warp, and its odd and even lanes, go different ways.
__global__ void parts_kernel(int* out) {
  const int lane = threadIdx.x;
  if (lane < 16) {
    out[lane] = __shfl_down_sync(0x0000ffffu, lane, 4, 16);
  } else {
    const int twice = __shfl_xor_sync(0xffff0000u, 2 * lane, 1);
    out[lane] = __shfl_sync(0xffff0000u, twice, 16);
  }
  __syncwarp();
  if (lane % 2) {
    __syncwarp(0xaaaaaaaau);
    out[32 + lane] = __shfl_up_sync(0xaaaaaaaau, lane, 2);
  } else {
    out[32 + lane] = __any_sync(0x55555555u, lane == 6);
    __syncwarp(0x55555555u);
  }
}

// The last warp of a block of 40 threads has 8 lanes.
__global__ void short_warp_kernel(int* out) {
  const unsigned mask = threadIdx.x < 32 ? kAll : 0xffu;
  int x = 1;
  for (int by = 4; by > 0; by /= 2) x += __shfl_down_sync(mask, x, by, 8);
  out[threadIdx.x] = x;
}

__global__ void votes_kernel(unsigned* ballot, int* any, int* all) {
  const int k = threadIdx.x, warp = k / 32, lane = k % 32;
  const int vote = warp == 0 ? 0 : warp == 1 ? lane % 3 == 0 : 256;
  ballot[k] = __ballot_sync(kAll, vote);
  any[k] = __any_sync(kAll, vote);
  all[k] = __all_sync(kAll, vote);
}

// Lanes that have left a loop take no part in the mask of those that go on.
__global__ void shrinking_kernel(int* rounds) {
  unsigned mask = kAll;
  for (int left = threadIdx.x;; --left) {
    mask = __ballot_sync(mask, left > 0);
    if (left == 0) break;
    ++rounds[threadIdx.x];
  }
}

// Lanes speak through shared memory; __syncwarp orders them.
__global__ void through_shared_kernel(int* out) {
  __shared__ int values[64];
  const int t = threadIdx.x, first = t & ~31;
  values[t] = t;
  __syncwarp();
  for (int by = 16; by > 0; by /= 2) {
    const int other = values[first + ((t + by) & 31)];
    __syncwarp();
    values[t] += other;
    __syncwarp();
  }
  out[t] = values[t];
}

// One lane of each warp, then one warp of the block.
__global__ void two_stage_kernel(const int* in, int* out) {
  __shared__ int of_warp[32];
  int x = in[threadIdx.x];
  for (int by = 16; by > 0; by /= 2) x += __shfl_down_sync(kAll, x, by);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = x;
  __syncthreads();
  if (threadIdx.x < 32) {
    x = threadIdx.x < blockDim.x / 32 ? of_warp[threadIdx.x] : 0;
    for (int by = 16; by > 0; by /= 2) x += __shfl_down_sync(kAll, x, by);
    if (threadIdx.x == 0) *out = x;
  }
}

void widths() {
  Array<int> out(128);
  for (int width = 1; width <= 32; width *= 2) {
    for (const int by : {0, 1, 2, 3, 5, 8, 16, 31}) {
      widths_kernel<<<1, 32>>>(out.data(), width, by);
      FINISHED();
      for (int lane = 0; lane < 32; ++lane) {
        const int part = lane / width * width;
        CHECK_EQUAL(out[lane], 100 + part + by % width);
        CHECK_EQUAL(out[32 + lane], 100 + (lane - by >= part ? lane - by : lane));
        CHECK_EQUAL(out[64 + lane], 100 + (lane + by < part + width ? lane + by : lane));
        // What lies in a part before is read, what lies in one behind is not.
        const int other = lane ^ by;
        CHECK_EQUAL(out[96 + lane], 100 + (other < part + width ? other : lane));
      }
    }
  }
}

template <class T>
void type(T step) {
  Array<T> out(32);
  type_kernel<<<1, 32>>>(out.data(), step);
  FINISHED();
  for (int k = 0; k < 32; ++k) CHECK_EQUAL(out[k], step * static_cast<T>((k + 1) % 32));
}

void types() {
  type<int>(-3);
  type<unsigned>(0x08000000u);
  type<long>(-(1L << 40));
  type<unsigned long>(1UL << 58);
  type<long long>(1LL << 41);
  type<unsigned long long>(1ULL << 59);
  type<float>(0.1f);
  type<double>(0.1);
}

void sums() {
  Array<double> out(4);
  Array<int> butterfly(128);
  sums_kernel<<<1, 128>>>(out.data(), butterfly.data());
  FINISHED();
  for (int warp = 0; warp < 4; ++warp) CHECK_EQUAL(out[warp], 32 * (32 * warp) + 528);
  for (int k = 0; k < 128; ++k) CHECK_EQUAL(butterfly[k], k / 32 * 32 + 31);

  Array<int> in(1024), sum(1);
  int expected = 0;
  for (int k = 0; k < 1024; ++k) expected += in[k] = k % 7;
  two_stage_kernel<<<1, 1024>>>(in.data(), sum.data());
  FINISHED();
  CHECK_EQUAL(sum[0], expected);
}

void parts() {
  Array<int> out(64);
  parts_kernel<<<1, 32>>>(out.data());
  FINISHED();
  for (int lane = 0; lane < 32; ++lane) {
    CHECK_EQUAL(out[lane], lane < 16 ? (lane < 12 ? lane + 4 : lane) : 34);
    CHECK_EQUAL(out[32 + lane], lane % 2 ? (lane < 2 ? lane : lane - 2) : 1);
  }
  short_warp_kernel<<<1, 40>>>(out.data());
  FINISHED();
  for (int k = 0; k < 40; k += 8) CHECK_EQUAL(out[k], 8);
}

void votes() {
  Array<unsigned> ballot(96);
  Array<int> any(96), all(96);
  votes_kernel<<<1, 96>>>(ballot.data(), any.data(), all.data());
  FINISHED();
  const unsigned expected[] = {0, 0x49249249u, kAll};
  for (int k = 0; k < 96; ++k) {
    CHECK_EQUAL(ballot[k], expected[k / 32]);
    CHECK_EQUAL(any[k] != 0, k >= 32);
    CHECK_EQUAL(all[k] != 0, k >= 64);
  }

  Array<int> rounds(32);
  shrinking_kernel<<<1, 32>>>(rounds.data());
  FINISHED();
  for (int k = 0; k < 32; ++k) CHECK_EQUAL(rounds[k], k);
}

void shared() {
  Array<int> out(64);
  through_shared_kernel<<<1, 64>>>(out.data());
  FINISHED();
  for (int k = 0; k < 64; ++k) CHECK_EQUAL(out[k], k < 32 ? 496 : 496 + 32 * 32);
}

int main() {
  widths();
  types();
  sums();
  parts();
  votes();
  shared();
  return result();
}
