// What the GPU can do at most. The time of each step is compared with it.
//
// Without options, for the programs that need one number: copies arrays far larger than any cache,
// in each way, and prints lines with tabs: the way (the best are copy_library, cudaMemcpy, and
// copy_float4, a kernel), median GB/s, first and third quartile, samples. With --results all that
// `make bandwidth` shows. Bytes are counted as read plus written, 1 GB = 10^9 bytes; times are CUDA
// events around each copy.
//
// --results: copies over array sizes and launch shapes, transfers between host and GPU, L2 and L1,
// the rate of multiply-adds. Every result is checked before it is timed.

#include "bandwidth.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>

#include <lab/command_line.h>
#include <lab/cuda_check.h>
#include <lab/options.h>
#include <lab/quantile.h>

namespace {

constexpr int kWarmUps = 3;
constexpr double kSlowMs = 1000;     // what is slow ends once it has taken this long
constexpr int kLargestPower = 11;    // arrays of (32 * 2^k)^2 floats, k from 0 to this
constexpr int kShapeN = 16384;       // arrays for the launch shapes, and for copies alone
constexpr int kHostN = 8192;         // and the largest between host and GPU
constexpr float kScale = 3;          // of the triad; all its values are exact in float
constexpr int kChunkThreads = 1024;  // the caches: a block reads chunks of kChunk words
constexpr int kUnrolled = 4;         // of 16 bytes, kUnrolled a thread
constexpr int kChunk = kChunkThreads * kUnrolled;
constexpr int kL2Rounds = 512;  // chunks a block reads
constexpr int kL1Threads = 512;
constexpr int kL1Rounds = 4096;
constexpr int kL1Shifts = 16;  // a thread's word changes from round to round, 32 words on
constexpr int kL1Words = kL1Threads * kUnrolled + 32 * kL1Shifts;
constexpr int kChains = 8;  // of dependent multiply-adds in a thread
constexpr int kArithmeticBlock = 256;

/// Times `work`, which moves `amount` bytes (or does as many operations), and keeps a row of it:
/// CUDA events around each call, after some that warm up.
void measure(Row row, double amount, const std::function<void()>& work) {
  cudaEvent_t begin, end;
  CUDA_CHECK(cudaEventCreate(&begin));
  CUDA_CHECK(cudaEventCreate(&end));
  std::vector<double> times;  // in milliseconds
  double total = 0;
  for (int sample = -kWarmUps; sample < kSamples; ++sample) {
    CUDA_CHECK(cudaEventRecord(begin));
    work();
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaEventRecord(end));
    CUDA_CHECK(cudaEventSynchronize(end));
    float ms = 0;
    CUDA_CHECK(cudaEventElapsedTime(&ms, begin, end));
    // One warm-up is enough for what is slow.
    if (sample < 0 && ms > kSlowMs / kSamples) sample = -1;
    if (sample < 0) continue;
    times.push_back(ms);
    total += ms;
    if (sample + 1 >= kAtLeast && total > kSlowMs) break;
  }
  CUDA_CHECK(cudaEventDestroy(begin));
  CUDA_CHECK(cudaEventDestroy(end));
  std::sort(times.begin(), times.end());

  row.samples = times.size();
  const double median = lab::quantile(times, 0.5);
  row.min_us = 1e3 * times[0];
  row.median_us = 1e3 * median;
  row.best = 1e-6 * amount / times[0];
  row.median = 1e-6 * amount / median;
  row.q1 = 1e-6 * amount / lab::quantile(times, 0.75);  // the longer the time, the lower the rate
  row.q3 = 1e-6 * amount / lab::quantile(times, 0.25);
  rows.push_back(row);
}

// The values that arrays begin with: whole numbers below 1024, so that sums of them are exact.
__host__ __device__ inline std::uint32_t value(std::size_t k, std::uint32_t salt) {
  const std::uint32_t low = static_cast<std::uint32_t>(k),
                      high = static_cast<std::uint32_t>(k >> 32);
  return (((low + high * 977u) * 2654435761u + salt * 40503u) >> 16) & 1023u;
}

template <typename Number>
__global__ void fill_kernel(Number* to, std::size_t count, std::uint32_t salt) {
  const std::size_t stride = std::size_t(gridDim.x) * blockDim.x;
  for (std::size_t k = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x; k < count; k += stride) {
    to[k] = static_cast<Number>(value(k, salt));
  }
}

// Counts what is not value(k, 1) + scale * value(k, 2).
__global__ void count_wrong_kernel(const float* a, std::size_t count, float scale,
                                   unsigned long long* wrong) {
  const std::size_t stride = std::size_t(gridDim.x) * blockDim.x;
  unsigned long long mine = 0;
  for (std::size_t k = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x; k < count; k += stride) {
    const float expected =
        static_cast<float>(value(k, 1)) + scale * static_cast<float>(value(k, 2));
    if (!(a[k] == expected)) ++mine;  // a NaN is wrong, too
  }
  if (mine > 0) atomicAdd(wrong, mine);
}

__global__ void copy_kernel(float* __restrict__ a, const float* __restrict__ b, int n) {
  const int x = threadIdx.x + blockIdx.x * blockDim.x;
  const int y = threadIdx.y + blockIdx.y * blockDim.y;
  if (x < n && y < n) a[std::size_t(y) * n + x] = b[std::size_t(y) * n + x];
}

__global__ void copy_float4_kernel(float4* __restrict__ a, const float4* __restrict__ b,
                                   std::size_t count) {
  const std::size_t k = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (k < count) a[k] = b[k];
}

__global__ void triad_kernel(float* __restrict__ a, const float* __restrict__ b,
                             const float* __restrict__ c, float scale, int n) {
  const int x = threadIdx.x + blockIdx.x * blockDim.x;
  const int y = threadIdx.y + blockIdx.y * blockDim.y;
  if (x < n && y < n) {
    const std::size_t k = std::size_t(y) * n + x;
    a[k] = b[k] + scale * c[k];
  }
}

// Block b reads chunk b, then chunk b + gridDim.x ... of `chunks`, round and round, past L1: ld.cg.
__global__ void __launch_bounds__(kChunkThreads)
    l2_read_kernel(const uint4* __restrict__ data, unsigned chunks, std::uint32_t* sums) {
  std::uint32_t sum = 0;
  unsigned chunk = blockIdx.x % chunks;
  for (int round = 0; round < kL2Rounds; ++round) {
    const uint4* word = data + std::size_t(chunk) * kChunk + threadIdx.x;
#pragma unroll
    for (int k = 0; k < kUnrolled; ++k) {
      const uint4 w = __ldcg(word + k * kChunkThreads);
      sum += w.x + w.y + w.z + w.w;
    }
    chunk = (chunk + gridDim.x) % chunks;
  }
  atomicAdd(&sums[blockIdx.x], sum);
}

__global__ void __launch_bounds__(kChunkThreads)
    l2_copy_kernel(uint4* __restrict__ to, const uint4* __restrict__ from, unsigned chunks) {
  unsigned chunk = blockIdx.x % chunks;
  for (int round = 0; round < kL2Rounds; ++round) {
    const std::size_t first = std::size_t(chunk) * kChunk + threadIdx.x;
    uint4 words[kUnrolled];
#pragma unroll
    for (int k = 0; k < kUnrolled; ++k) words[k] = __ldcg(from + first + k * kChunkThreads);
#pragma unroll
    for (int k = 0; k < kUnrolled; ++k) __stcg(to + first + k * kChunkThreads, words[k]);
    chunk = (chunk + gridDim.x) % chunks;
  }
}

// All blocks read the same 40 KB again and again: L1 has them after the first round.
__global__ void __launch_bounds__(kL1Threads)
    l1_read_kernel(const uint4* __restrict__ data, std::uint32_t* sums) {
  std::uint32_t sum = 0;
#pragma unroll 1
  for (int round = 0; round < kL1Rounds; ++round) {
    const uint4* word = data + threadIdx.x + 32 * (round % kL1Shifts);
#pragma unroll
    for (int k = 0; k < kUnrolled; ++k) {
      const uint4 w = word[k * kL1Threads];
      sum += w.x + w.y + w.z + w.w;
    }
  }
  atomicAdd(&sums[blockIdx.x], sum);
}

// Multiply-adds of which each waits for one before, kChains at a time. x -> x/2 + b tends to 2 b.
template <typename Real>
__global__ void __launch_bounds__(kArithmeticBlock)
    multiply_add_kernel(Real* sums, Real half, int rounds) {
  Real x[kChains], b[kChains];
#pragma unroll
  for (int k = 0; k < kChains; ++k) {
    x[k] = 0;
    b[k] = static_cast<Real>(k + 1 + threadIdx.x % 32) / 2;
  }
#pragma unroll 4
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int k = 0; k < kChains; ++k) x[k] = x[k] * half + b[k];
  }
  Real sum = 0;
#pragma unroll
  for (int k = 0; k < kChains; ++k) sum += x[k];
  sums[std::size_t(blockIdx.x) * blockDim.x + threadIdx.x] = sum;
}

[[noreturn]] void wrong_result(const char* what) {
  lab::fail(lab::kExitCudaError, "%s: its result is wrong, so it gets no time", what);
}

void finish_kernel() {
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
}

/// Three arrays on the GPU: a is written, b and c are read.
struct Arrays {
  float *a, *b, *c;
  unsigned long long* wrong;  // how many of a's values are
  unsigned blocks;            // for kernels that go over any number of points
};

/// Runs `work`, and ends the program unless a[0] ... a[count - 1] are then b + scale * c.
void check(const char* what, const Arrays& arrays, std::size_t count, float scale,
           const std::function<void()>& work) {
  CUDA_CHECK(cudaMemset(arrays.a, 0xff, count * sizeof(float)));  // NaNs
  CUDA_CHECK(cudaMemset(arrays.wrong, 0, sizeof *arrays.wrong));
  work();
  count_wrong_kernel<<<arrays.blocks, 256>>>(arrays.a, count, scale, arrays.wrong);
  finish_kernel();
  unsigned long long wrong = 0;
  CUDA_CHECK(cudaMemcpy(&wrong, arrays.wrong, sizeof wrong, cudaMemcpyDeviceToHost));
  if (wrong != 0) wrong_result(what);
}

dim3 grid_of(int n, dim3 block) {
  return dim3((n + block.x - 1) / block.x, (n + block.y - 1) / block.y);
}

void measure_copy_kernel(const char* what, const Arrays& arrays, int n, dim3 block) {
  const std::size_t count = std::size_t(n) * n, bytes = count * sizeof(float);
  auto work = [&] { copy_kernel<<<grid_of(n, block), block>>>(arrays.a, arrays.b, n); };
  check("the copy by a kernel", arrays, count, 0, work);
  measure({what, "copy_kernel", n, int(block.x), int(block.y), bytes}, 2.0 * bytes, work);
}

void measure_triad(const char* what, const Arrays& arrays, int n, dim3 block) {
  const std::size_t count = std::size_t(n) * n, bytes = count * sizeof(float);
  auto work = [&] {
    triad_kernel<<<grid_of(n, block), block>>>(arrays.a, arrays.b, arrays.c, kScale, n);
  };
  check("the triad", arrays, count, kScale, work);
  measure({what, "triad", n, int(block.x), int(block.y), bytes}, 3.0 * bytes, work);
}

void measure_sizes(const Arrays& arrays, int smallest, int largest) {
  for (int n = smallest; n <= largest; n *= 2) {
    const std::size_t count = std::size_t(n) * n, bytes = count * sizeof(float);
    auto library = [&] {
      CUDA_CHECK(cudaMemcpyAsync(arrays.a, arrays.b, bytes, cudaMemcpyDeviceToDevice));
    };
    check("the copy by the library", arrays, count, 0, library);
    measure({"size", "copy_library", n, 0, 0, bytes}, 2.0 * bytes, library);
    measure_copy_kernel("size", arrays, n, dim3(32, 8));
    auto by_float4 = [&] {
      copy_float4_kernel<<<static_cast<unsigned>((count / 4 + 255) / 256), 256>>>(
          reinterpret_cast<float4*>(arrays.a), reinterpret_cast<const float4*>(arrays.b),
          count / 4);
    };
    check("the copy by float4", arrays, count, 0, by_float4);
    measure({"size", "copy_float4", n, 256, 1, bytes}, 2.0 * bytes, by_float4);
    measure_triad("size", arrays, n, dim3(32, 8));
  }
}

void measure_shapes(const Arrays& arrays, int n) {
  measure_copy_kernel("block", arrays, n, dim3(1, 1));
  for (unsigned x = 32; x <= 1024; x *= 2) measure_copy_kernel("block", arrays, n, dim3(x, 1));
  for (unsigned y = 2; y <= 32; y *= 2) measure_copy_kernel("block", arrays, n, dim3(32, y));
  for (unsigned y = 1; y <= 32; y *= 2) measure_triad("block", arrays, n, dim3(32, y));
}

void measure_host(const Arrays& arrays, int largest) {
  const std::size_t most = std::size_t(largest) * largest;
  std::vector<float> pageable(most), back(most);
  float* pinned;
  CUDA_CHECK(cudaMallocHost(&pinned, most * sizeof(float)));
  for (std::size_t k = 0; k < most; ++k) pageable[k] = pinned[k] = static_cast<float>(value(k, 1));
  for (int n = 32; n <= largest; n *= 2) {
    const std::size_t count = std::size_t(n) * n, bytes = count * sizeof(float);
    for (const bool is_pinned : {false, true}) {
      float* host = is_pinned ? pinned : pageable.data();
      auto to_gpu = [&] {
        CUDA_CHECK(cudaMemcpyAsync(arrays.a, host, bytes, cudaMemcpyHostToDevice));
      };
      auto to_host = [&] {
        CUDA_CHECK(cudaMemcpyAsync(host, arrays.a, bytes, cudaMemcpyDeviceToHost));
      };
      check("the copy to the GPU", arrays, count, 0, to_gpu);
      measure({"host", is_pinned ? "to_gpu_pinned" : "to_gpu_pageable", n, 0, 0, bytes},
              1.0 * bytes, to_gpu);
      std::memcpy(back.data(), host, bytes);
      std::memset(host, 0xff, bytes);
      to_host();
      CUDA_CHECK(cudaDeviceSynchronize());
      if (std::memcmp(back.data(), host, bytes) != 0) wrong_result("the copy to the host");
      measure({"host", is_pinned ? "to_host_pinned" : "to_host_pageable", n, 0, 0, bytes},
              1.0 * bytes, to_host);
    }
  }
  CUDA_CHECK(cudaFreeHost(pinned));
}

/// Whether block b's sum is the one expected, for all b.
void check_sums(const char* what, const std::uint32_t* sums, unsigned blocks,
                const std::function<std::uint32_t(unsigned)>& expected) {
  std::vector<std::uint32_t> found(blocks);
  CUDA_CHECK(cudaMemcpy(found.data(), sums, blocks * sizeof found[0], cudaMemcpyDeviceToHost));
  for (unsigned b = 0; b < blocks; ++b) {
    if (found[b] != expected(b)) wrong_result(what);
  }
}

void measure_caches(const Arrays& arrays, std::size_t most_bytes, int sms) {
  const unsigned blocks = 2 * sms;
  std::uint32_t* block_sums;
  CUDA_CHECK(cudaMalloc(&block_sums, 4 * sms * sizeof *block_sums));
  auto* words = reinterpret_cast<std::uint32_t*>(arrays.c);
  fill_kernel<<<arrays.blocks, 256>>>(words, most_bytes / sizeof *words, 3);
  finish_kernel();
  const std::size_t chunk_bytes = kChunk * sizeof(uint4);
  std::vector<std::uint32_t> chunk_sums;
  for (std::size_t k = 0; k < most_bytes / 4; ++k) {
    if (k % (4 * kChunk) == 0) chunk_sums.push_back(0);
    chunk_sums.back() += value(k, 3);
  }
  for (std::size_t bytes = chunk_bytes * 8; bytes <= most_bytes; bytes *= 2) {
    const unsigned chunks = static_cast<unsigned>(bytes / chunk_bytes);
    const auto* data = reinterpret_cast<const uint4*>(words);
    auto read = [&] { l2_read_kernel<<<blocks, kChunkThreads>>>(data, chunks, block_sums); };
    CUDA_CHECK(cudaMemset(block_sums, 0, blocks * sizeof *block_sums));
    read();
    check_sums("reading from L2", block_sums, blocks, [&](unsigned block) {
      std::uint32_t sum = 0;
      for (int round = 0; round < kL2Rounds; ++round) {
        sum += chunk_sums[(block % chunks + std::size_t(round) * blocks) % chunks];
      }
      return sum;
    });
    const double moved = double(blocks) * kL2Rounds * chunk_bytes;
    measure({"cache", "l2_read", 0, kChunkThreads, 1, bytes}, moved, read);

    // Half of the bytes are read, half are written: as many in all.
    const unsigned half = chunks / 2;
    auto copy = [&] {
      l2_copy_kernel<<<blocks, kChunkThreads>>>(reinterpret_cast<uint4*>(arrays.a),
                                                reinterpret_cast<const uint4*>(arrays.b), half);
    };
    check("copying in L2", arrays, bytes / 2 / sizeof(float), 0, copy);
    measure({"cache", "l2_copy", 0, kChunkThreads, 1, bytes}, 2 * moved, copy);
  }

  const unsigned l1_blocks = 4 * sms;
  auto read = [&] {
    l1_read_kernel<<<l1_blocks, kL1Threads>>>(reinterpret_cast<const uint4*>(words), block_sums);
  };
  std::uint32_t expected = 0;
  for (int shift = 0; shift < kL1Shifts; ++shift) {
    for (int k = 0; k < 4 * kL1Threads * kUnrolled; ++k) {
      expected += value(4 * 32 * shift + k, 3);
    }
  }
  expected *= kL1Rounds / kL1Shifts;
  CUDA_CHECK(cudaMemset(block_sums, 0, l1_blocks * sizeof *block_sums));
  read();
  check_sums("reading from L1", block_sums, l1_blocks, [&](unsigned) { return expected; });
  measure({"cache", "l1_read", 0, kL1Threads, 1, kL1Words * sizeof(uint4)},
          double(l1_blocks) * kL1Threads * kL1Rounds * kUnrolled * sizeof(uint4), read);
  CUDA_CHECK(cudaFree(block_sums));
}

template <typename Real>
void measure_arithmetic(const char* way, int sms, int rounds, double tolerance) {
  const unsigned blocks = 8 * sms;
  const std::size_t threads = std::size_t(blocks) * kArithmeticBlock;
  Real* results;
  CUDA_CHECK(cudaMalloc(&results, threads * sizeof(Real)));
  auto work = [&] {
    multiply_add_kernel<Real><<<blocks, kArithmeticBlock>>>(results, Real(0.5), rounds);
  };
  work();
  std::vector<Real> found(threads);
  CUDA_CHECK(cudaMemcpy(found.data(), results, threads * sizeof(Real), cudaMemcpyDeviceToHost));
  for (std::size_t t = 0; t < threads; ++t) {
    double expected = 0;
    for (int k = 0; k < kChains; ++k) expected += k + 1 + t % kArithmeticBlock % 32;
    if (!(std::abs(found[t] - expected) <= tolerance * expected)) wrong_result(way);
  }
  measure({"arithmetic", way, 0, kArithmeticBlock, 1, 0, "GFLOP/s"},
          2.0 * threads * rounds * kChains, work);
  CUDA_CHECK(cudaFree(results));
}

/// Measures what this GPU can do at most, from DRAM to arithmetic; prints tables and writes them as
/// DIR/bandwidth.tsv, where `results` names the folder. "": copies of one size, as lines.
void measure_ceilings(const std::string& results) {
  std::size_t free_bytes = 0, total_bytes = 0;
  CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
  lab::prepare_folder("--results", results);
  const Machine machine = look_at_machine();

  int largest = results.empty() ? kShapeN : 32 << kLargestPower;
  auto bytes_of = [](int n) { return std::size_t(n) * n * sizeof(float); };
  while (largest > 32 && 3 * bytes_of(largest) > free_bytes / 10 * 9) largest /= 2;
  const std::size_t bytes = bytes_of(largest);
  const int sms = machine.properties.multiProcessorCount;
  Arrays arrays{};
  arrays.blocks = 16 * sms;
  for (float** array : {&arrays.a, &arrays.b, &arrays.c}) CUDA_CHECK(cudaMalloc(array, bytes));
  CUDA_CHECK(cudaMalloc(&arrays.wrong, sizeof *arrays.wrong));
  fill_kernel<<<arrays.blocks, 256>>>(arrays.b, bytes / sizeof(float), 1);
  fill_kernel<<<arrays.blocks, 256>>>(arrays.c, bytes / sizeof(float), 2);
  finish_kernel();

  if (results.empty()) {
    measure_sizes(arrays, largest, largest);
    return print_lines(machine);
  }
  measure_sizes(arrays, 32, largest);
  measure_shapes(arrays, std::min(kShapeN, largest));
  measure_host(arrays, std::min(kHostN, largest));
  measure_arithmetic<float>("multiply_add_float", sms, 32768, 1e-5);
  measure_arithmetic<double>("multiply_add_double", sms, 8192, 1e-12);
  measure_caches(arrays, std::min(bytes, std::size_t{256} << 20), sms);  // overwrites c

  for (float* array : {arrays.a, arrays.b, arrays.c}) CUDA_CHECK(cudaFree(array));
  CUDA_CHECK(cudaFree(arrays.wrong));
  print_tables(machine);
  write_table(results, machine);
}

constexpr const char* kHelp =
    "bandwidth: the copy bandwidth of the GPU, as tab-separated lines\n"
    "bandwidth --results DIR: copies of many sizes and launch shapes, transfers between host and\n"
    "    GPU, the caches, arithmetic; as tables, and as DIR/bandwidth.tsv\n\n"
    "  --help               print this\n\n"
    "exit codes: 0 measured, 2 bad usage, 3 a CUDA error or a wrong result, 4 cannot write,\n"
    "            5 does not fit in memory, 77 no usable GPU\n";

}  // namespace

int main(int argc, char** argv) {
  std::string results;
  lab::CommandLine line("bandwidth", kHelp);
  line.text("--results", &results);
  line.read(argc, argv);
  measure_ceilings(results);
}
