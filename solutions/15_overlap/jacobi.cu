// 15_overlap: the exchange hidden behind the rows that nobody waits for
//
// Changed: two streams. A pass first makes the rows at both ends of the rank's slab, in a stream
// with high priority, and gives them to the neighbours; the rest is made at the same time, in the
// other stream. NCCL's kernels need multiprocessors of their own: so now a launch takes as many as
// it is given, with one block on each, and the warps divide the rows evenly. The host waits for no
// pass: it asks for a residual when the next sweeps are under way.
//
//   make check STEP=15, make run STEP=15 RANKS=4
//   Ask the profiler: what is left exposed?

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <cuda_pipeline_primitives.h>
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <lab/cuda_check.h>
#include <lab/gpu_memory.h>
#include <lab/nccl_check.h>
#include <lab/options.h>
#include <lab/problem.h>
#include <lab/ranks.h>
#include <lab/run.h>

constexpr int kDefaultN = 32768;  // points a side, unless --n says otherwise
constexpr int kLanes = 32;        // threads of a warp; each has four columns of its strip

// As in step 13; but blocks are as large as can be, one on each multiprocessor.
constexpr int kLevels = 12;               // sweeps a pass
constexpr int kFewLevels = 4;             // where fewer are left; then one by one
constexpr int kCheckEvery = 4 * kLevels;  // sweeps from one residual to the next (--check-every)
constexpr int kWarps = 12;                // warps a block: they fill a multiprocessor
constexpr int kAbreast = 2;               // of them march side by side, each in its strip
constexpr int kRing = 8;                  // rows in shared memory, all but one under way
constexpr int kHalo = (kLevels + 3) / 4 * 4;   // columns that are wrong in the end, on both sides,
constexpr int kKept = 4 * kLanes - 2 * kHalo;  // and those between, which the warp stores

// The rows of a rank: it computes rows begin to end - 1, and holds those from held_begin to
// held_end - 1. What it only holds is its halo: kLevels rows of each neighbour.
struct Slab {
  int n;  // points a side of the whole field
  int begin, end;
  int held_begin, held_end;
};

Slab slab_of_rank(int rank, int ranks, int n) {
  const int begin = int(std::size_t(n) * rank / ranks);
  const int end = int(std::size_t(n) * (rank + 1) / ranks);
  return {n, begin, end, std::max(begin - kLevels, 0), std::min(end + kLevels, n)};
}

// Where point (i, j) stands in memory. i is x and j is y; i runs from 0 to n - 1, and j from the
// first row that the rank holds. A row is padded to a multiple of 32 floats, its pitch: the padding
// has no part in the result.
__host__ __device__ inline std::size_t idx(int i, int j, int n) {
  return std::size_t(j) * ((n + 31) / 32 * 32) + i;
}
__host__ __device__ inline int pitch_of(int n) { return int(idx(0, 1, n)); }

// The rank's rows of two fields, and two sums of squared changes, of which one is on its way to the
// host while the other one is made. All are in the GPU's memory.
void allocate_fields(float** f_old, float** f_new, double** sum, const lab::Ranks& ranks,
                     const Slab& slab) {
  nvtxRangePush("allocate_fields");
  ranks.require_gpu_memory(slab.n, kLevels, 2 * sizeof(float));
  const std::size_t bytes = idx(0, slab.held_end - slab.held_begin, slab.n) * sizeof(float);
  CUDA_CHECK(cudaMalloc(f_old, bytes));
  CUDA_CHECK(cudaMalloc(f_new, bytes));
  CUDA_CHECK(cudaMalloc(sum, 2 * sizeof(double)));
  CUDA_CHECK(cudaMemset(*sum, 0, 2 * sizeof(double)));
  nvtxRangePop();
}

void free_fields(float* f_old, float* f_new, double* sum) {
  nvtxRangePush("free_fields");
  CUDA_CHECK(cudaFree(f_old));
  CUDA_CHECK(cudaFree(f_new));
  CUDA_CHECK(cudaFree(sum));
  nvtxRangePop();
}

__global__ void initialize_field_kernel(float* f, lab::StartingValue start, Slab slab) {
  const int n = slab.n, j = slab.held_begin + blockIdx.x;  // a block fills one row, and its padding
  for (int i = threadIdx.x; i < pitch_of(n); i += blockDim.x) {
    f[idx(i, j - slab.held_begin, n)] = i < n ? start(i, j) : 0.0f;
  }
}

// Gives every point that the rank holds its starting value; no sweep changes those on the boundary.
void initialize_field(float* f, const lab::StartingField& start, const Slab& slab) {
  nvtxRangePush("initialize_field");
  const lab::StartOnGpu on_gpu(start);  // the boundary's values, copied for the kernel
  initialize_field_kernel<<<slab.held_end - slab.held_begin, kLanes * kWarps>>>(f, on_gpu.value(),
                                                                                slab);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  nvtxRangePop();
}

// What a launch sweeps: so many rows from `begin` on, and, where it has two parts, as many more.
struct Part {
  int rows, parts;
  int begin, begin_second;
};

// kAbreast strips are a swath, through which as many warps, a team, march side by side: so columns
// that two of them read come from DRAM once. All swaths of a part, one behind the other, are one
// long swath, which the teams divide evenly. Here swath s begins in it, in half rows. One at a side
// of the grid counts one and a half times: some columns there must keep values, which takes time.
__device__ inline int swath_begin(int s, int rows, int n) {
  const int east = max((n - kHalo + kKept - 1) / kKept - 1, 0) / kAbreast;  // first at that side
  return rows * (2 * s + (s > 0) + max(s - east, 0));
}

// What a sweep remembers of a lane's columns: two rows, the older one as sums of two neighbours.
struct Level {
  float4 row;    // the row that arrived last
  float4 pairs;  // east + north of the row before's points: south + west for `row`, a column on
};

// `north` arrives. Returns the new values of the row south of it, level->row until now.
__device__ __forceinline__ float4 sweep_row(Level* level, float4 north) {
  const float4 c = level->row, before = level->pairs;
  const float east = __shfl_down_sync(~0u, c.x, 1);           // the next lane's first point
  const float south_west = __shfl_up_sync(~0u, before.w, 1);  // the last lane's last pair
  const float4 pairs = {c.y + north.x, c.z + north.y, c.w + north.z, east + north.w};
  *level = {north, pairs};
  // __fmul_rn: a product that the compiler fuses with no later sum, so that the bits stay.
  return {__fmul_rn(0.25f, pairs.x + south_west), __fmul_rn(0.25f, pairs.y + before.x),
          __fmul_rn(0.25f, pairs.z + before.y), __fmul_rn(0.25f, pairs.w + before.z)};
}

// The value stays the old one where a bit of `fixed` is set.
__device__ __forceinline__ float4 keep(float4 value, float4 old, unsigned fixed) {
  return {fixed & 1 ? old.x : value.x, fixed & 2 ? old.y : value.y, fixed & 4 ? old.z : value.z,
          fixed & 8 ? old.w : value.w};
}

// A pass of kSweeps sweeps. Row after row of a strip arrives, and goes through all levels at once:
//
//   row y, old       arrives: level[0] keeps it, and gives the new values of the row before:
//   row y - 1        after sweep 1: level[1] keeps it, and gives those of the row before:
//   row y - 2        after sweep 2: level[2] keeps it, ...
//   row y - kSweeps  after the last sweep: is stored
enum class Near { kNothing, kSide, kEnd };  // which boundary may be near
template <int kSweeps>
__global__ void __launch_bounds__(kLanes* kWarps)
    jacobi_pass_kernel(float* __restrict__ f_new, const float* __restrict__ f_old, double* sum,
                       Slab slab, Part part) {
  // Each lane fetches what it will read itself: no barrier.
  __shared__ float4 ring[kWarps][kRing][kLanes];
  const int n = slab.n, lane = threadIdx.x, warp = threadIdx.y;
  // Teams with numbers one behind the other are in different blocks: so the slow ones, at a side of
  // the grid, do not meet on one multiprocessor.
  const int teams = gridDim.x * (kWarps / kAbreast), me = warp / kAbreast * gridDim.x + blockIdx.x;
  const int swaths = (n + kAbreast * kKept - 1) / (kAbreast * kKept);
  const int length = swath_begin(swaths, part.rows, n);
  const int end = std::int64_t(length) * part.parts * (me + 1) / teams;
  double thread_sum = 0.0;

  for (int at = std::int64_t(length) * part.parts * me / teams; at < end;) {
    // The team's rows of one swath: from `at` on, to the swath's last or to the team's last.
    const int part_begin = at < length ? 0 : length;
    int s = (at - part_begin) / part.rows / 2;
    while (part_begin + swath_begin(s, part.rows, n) > at) --s;
    const int first = part_begin + swath_begin(s, part.rows, n);
    const int last = part_begin + swath_begin(s + 1, part.rows, n);
    const int count = (last - first) / part.rows;  // what each row counts
    const int j = at < length ? part.begin : part.begin_second;
    const int j_begin = j + (at - first) / count, j_end = j + (min(end, last) - first) / count;
    at = last;
    const int i_begin = (s * kAbreast + warp % kAbreast) * kKept, i_end = min(i_begin + kKept, n);
    if (i_begin >= n) continue;  // the last swath may have fewer strips
    const bool side = i_begin == 0 || i_end + kHalo >= n;
    const int i = i_begin - kHalo + 4 * lane;  // the first of the lane's four columns
    unsigned fixed = 0;  // bit k: column i + k is on the boundary or beyond, keeps its values
    for (int k = 0; k < 4; ++k) fixed |= unsigned(i + k <= 0 || i + k >= n - 1) << k;

    int y = max(j_begin - kSweeps, 0);  // the row that arrives
    // Beyond what is held any address will do. What is fetched beyond the warp's own rows, and may
    // be a halo that is just arriving, is never used.
    const float* from = f_old + idx(min(max(i, 0), pitch_of(n) - 4), y - slab.held_begin, n);
    const auto fetch = [&](int row, Near near) {
      __pipeline_memcpy_async(&ring[warp][unsigned(row) % kRing][lane], from, sizeof(float4));
      __pipeline_commit();
      if (near != Near::kEnd || row < slab.held_end - 1) from += pitch_of(n);
    };

    Level level[kSweeps] = {};
    float* to = f_new + idx(i, 0, n) + std::ptrdiff_t(y - kSweeps - slab.held_begin) * pitch_of(n);
    const int y_stored = i >= i_begin && i < i_end ? j_begin + kSweeps : INT_MAX;
    const auto arrive = [&](int y, Near near) {
      __pipeline_wait_prior(kRing - 2);  // row y is there, the rows after it are under way
      fetch(y + kRing - 1, near);        // to where row y - 1 was
      float4 row = ring[warp][unsigned(y) % kRing][lane], old;
#pragma unroll
      for (int l = 0; l < kSweeps; ++l) {
        old = level[l].row;
        row = sweep_row(&level[l], row);
        if (near == Near::kSide) row = keep(row, old, fixed);
        if (near == Near::kEnd) row = keep(row, old, y - l <= 1 || y - l >= n ? 15 : fixed);
      }
      if (y >= y_stored) {
        *reinterpret_cast<float4*>(to) = row;
        if (sum) {
          const double a = row.x - old.x, b = row.y - old.y, c = row.z - old.z, d = row.w - old.w;
          thread_sum += (a * a + b * b) + (c * c + d * d);
        }
      }
      to += pitch_of(n);
    };

    for (int k = 0; k < kRing - 1; ++k) fetch(y + k, Near::kEnd);
    const int y_end = j_end + kSweeps;
    while (y < y_end) {
      if (y <= kSweeps || y + kRing >= slab.held_end) {
        arrive(y++, Near::kEnd);
      } else if (side) {
#pragma unroll 1
        for (; y < min(y_end, slab.held_end - kRing); ++y) arrive(y, Near::kSide);
      } else {
#pragma unroll 3
        for (; y < min(y_end, slab.held_end - kRing); ++y) arrive(y, Near::kNothing);
      }
    }
    __pipeline_wait_prior(0);  // nothing more may arrive in the ring
  }

  for (int k = kLanes / 2; k > 0; k /= 2) thread_sum += __shfl_down_sync(~0u, thread_sum, k);
  if (lane == 0 && sum) atomicAdd(sum, thread_sum);  // null: nobody asks
}

// The two streams of a pass, and what each of them says to the other when it is done.
struct Streams {
  cudaStream_t ends, rest;
  cudaEvent_t ends_done, rest_done;
};

Streams create_streams() {
  Streams streams;
  int low, high;  // the higher the priority, the lower the number
  CUDA_CHECK(cudaDeviceGetStreamPriorityRange(&low, &high));
  CUDA_CHECK(cudaStreamCreateWithPriority(&streams.ends, cudaStreamNonBlocking, high));
  CUDA_CHECK(cudaStreamCreateWithPriority(&streams.rest, cudaStreamNonBlocking, low));
  CUDA_CHECK(cudaEventCreateWithFlags(&streams.ends_done, cudaEventDisableTiming));
  CUDA_CHECK(cudaEventCreateWithFlags(&streams.rest_done, cudaEventDisableTiming));
  return streams;
}

void free_streams(const Streams& streams) {
  CUDA_CHECK(cudaStreamDestroy(streams.ends));
  CUDA_CHECK(cudaStreamDestroy(streams.rest));
  CUDA_CHECK(cudaEventDestroy(streams.ends_done));
  CUDA_CHECK(cudaEventDestroy(streams.rest_done));
}

// Gives each neighbour the kLevels rows beside it, and gets as many, when the stream comes to it.
void exchange_halos(float* f, lab::Ranks& ranks, const Slab& slab, cudaStream_t stream) {
  nvtxRangePush("exchange_halos");
  const int south = ranks.rank() - 1, north = ranks.rank() + 1;
  const auto row = [&](int j) { return f + idx(0, j - slab.held_begin, slab.n); };
  const std::size_t values = idx(0, kLevels, slab.n);
  std::vector<lab::Halo> halos;
  if (slab.begin > 0) halos.push_back({south, row(slab.begin), row(slab.begin - kLevels), values});
  if (slab.end < slab.n) halos.push_back({north, row(slab.end - kLevels), row(slab.end), values});

  if (ranks.has_nccl()) {
    NCCL_CHECK(ncclGroupStart());  // as one: no call waits for the one before
    for (const lab::Halo& halo : halos) {
      NCCL_CHECK(ncclSend(halo.send, values, ncclFloat, halo.rank, ranks.nccl(), stream));
      NCCL_CHECK(ncclRecv(halo.receive, values, ncclFloat, halo.rank, ranks.nccl(), stream));
    }
    NCCL_CHECK(ncclGroupEnd());
  } else {
    ranks.exchange_through_host(halos, stream);
  }
  nvtxRangePop();
}

// How a slab is divided: its ends, the kLevels rows at each neighbour's side, and the rest; and the
// multiprocessors of the GPU, of which so many are for the ends that these need about half a pass:
// the other half is the exchange's.
struct Division {
  Part ends, rest;
  int ends_blocks, rest_blocks;
};

Division divide(const Slab& slab) {
  int device, multiprocessors;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  const int rows = slab.end - slab.begin;
  const int south = slab.begin > 0, north = slab.end < slab.n;  // 1 where there is a neighbour
  if (!south && !north) return {{}, {rows, 1, slab.begin, 0}, 0, multiprocessors};
  if (rows < 2 * kLevels) return {{rows, 1, slab.begin, 0}, {}, multiprocessors, 0};  // all is end
  Division division;
  const int north_end = slab.end - kLevels;  // where that end begins
  division.ends = {kLevels, south + north, south ? slab.begin : north_end, north_end};
  division.rest = {rows - (south + north) * kLevels, 1, slab.begin + south * kLevels, 0};
  // To make kLevels rows a warp goes through three times as many.
  const int blocks = std::lround(multiprocessors * 2.0 * (south + north) * 3 * kLevels / rows);
  division.ends_blocks = std::min(std::max(blocks, 1), (multiprocessors + 1) / 2);
  division.rest_blocks = std::max(multiprocessors - division.ends_blocks, 1);
  return division;
}

template <int kSweeps>
void sweep_part(float* f_new, const float* f_old, double* sum, const Slab& slab, const Part& part,
                int blocks, cudaStream_t stream) {
  if (part.rows == 0) return;
  const dim3 block(kLanes, kWarps);
  jacobi_pass_kernel<kSweeps><<<blocks, block, 0, stream>>>(f_new, f_old, sum, slab, part);
  CUDA_CHECK(cudaGetLastError());  // was the launch accepted?
}

// A pass, in two streams, of which each waits for what the other did in the pass before:
//
//   ends   | rows at both ends | exchange with the neighbours |      | rows at both ends | ...
//   rest   |         all other rows, which need no halo              | all other rows ...
template <int kSweeps>
void jacobi_pass(float** f_old, float** f_new, double* sum, lab::Ranks& ranks, const Slab& slab,
                 const Division& division, const Streams& streams) {
  nvtxRangePush("jacobi_pass");
  CUDA_CHECK(cudaStreamWaitEvent(streams.ends, streams.rest_done, 0));
  CUDA_CHECK(cudaStreamWaitEvent(streams.rest, streams.ends_done, 0));
  sweep_part<kSweeps>(*f_new, *f_old, sum, slab, division.ends, division.ends_blocks, streams.ends);
  CUDA_CHECK(cudaEventRecord(streams.ends_done, streams.ends));
  sweep_part<kSweeps>(*f_new, *f_old, sum, slab, division.rest, division.rest_blocks, streams.rest);
  CUDA_CHECK(cudaEventRecord(streams.rest_done, streams.rest));
  exchange_halos(*f_new, ranks, slab, streams.ends);
  std::swap(*f_old, *f_new);  // the new field is the old one of the next pass
  nvtxRangePop();
}

// A sum of squared changes, and its way to the host.
struct Found {
  double* sum;       // in the GPU's memory
  double* host_sum;  // in pinned memory: a copy to it need not wait for the host
  cudaEvent_t done;
};

Found create_found(double* sum) {
  Found found{sum, nullptr, nullptr};
  CUDA_CHECK(cudaMallocHost(&found.host_sum, sizeof(double)));
  CUDA_CHECK(cudaEventCreateWithFlags(&found.done, cudaEventDisableTiming));
  return found;
}

void free_found(const Found& found) {
  CUDA_CHECK(cudaFreeHost(found.host_sum));
  CUDA_CHECK(cudaEventDestroy(found.done));
}

// Queues sweeps, many a pass, and the sum of the last one's squared changes over all ranks, a
// double: see 00. Waits for nothing.
void jacobi_sweeps(float** f_old, float** f_new, const Found& found, int sweeps, lab::Ranks& ranks,
                   const Slab& slab, const Division& division, const Streams& streams) {
  nvtxRangePush("jacobi_sweeps");
  while (sweeps > 0) {
    const int levels = sweeps >= kLevels ? kLevels : sweeps >= kFewLevels ? kFewLevels : 1;
    const auto pass = levels == kLevels      ? jacobi_pass<kLevels>
                      : levels == kFewLevels ? jacobi_pass<kFewLevels>
                                             : jacobi_pass<1>;
    sweeps -= levels;
    double* sum = sweeps == 0 ? found.sum : nullptr;  // the last one's alone
    pass(f_old, f_new, sum, ranks, slab, division, streams);
  }

  CUDA_CHECK(cudaStreamWaitEvent(streams.ends, streams.rest_done, 0));
  if (ranks.has_nccl()) {
    NCCL_CHECK(
        ncclAllReduce(found.sum, found.sum, 1, ncclDouble, ncclSum, ranks.nccl(), streams.ends));
  } else {
    ranks.sum(found.sum, streams.ends);
  }
  CUDA_CHECK(cudaMemcpyAsync(found.host_sum, found.sum, sizeof(double), cudaMemcpyDeviceToHost,
                             streams.ends));
  CUDA_CHECK(cudaMemsetAsync(found.sum, 0, sizeof(double), streams.ends));  // for the next time
  CUDA_CHECK(cudaEventRecord(found.done, streams.ends));
  nvtxRangePop();
}

// Waits for the sweeps before, and for no later ones. Returns the residual of their last one: in
// all ranks the same, so that they go on, or stop, together.
double wait_for(const Found& found, lab::Ranks& ranks, int n) {
  nvtxRangePush("wait_for");
  ranks.wait_for(found.done);
  nvtxRangePop();
  return std::sqrt(*found.host_sum / (double(n) * n));
}

int main(int argc, char** argv) {
  lab::Ranks ranks(&argc, &argv);  // starts MPI
  const lab::Options options = lab::parse_options(argc, argv, {kDefaultN, kCheckEvery});
  const lab::Problem problem(options);
  const int n = options.n;
  ranks.require_rows(n, kLevels);
  ranks.connect();  // a GPU for each rank, and NCCL between them where it can be
  const Slab slab = slab_of_rank(ranks.rank(), ranks.size(), n);
  const Division division = divide(slab);

  float *f_old, *f_new;
  double* sums;
  allocate_fields(&f_old, &f_new, &sums, ranks, slab);
  initialize_field(f_old, problem.initial_old(), slab);
  initialize_field(f_new, problem.initial_new(), slab);

  const Streams streams = create_streams();
  Found found = create_found(sums), found_before = create_found(sums + 1);

  lab::Run run(options, problem);
  int iteration = 0;
  double residual = std::numeric_limits<double>::infinity();
  while (residual > options.tolerance && iteration < options.max_iterations) {
    const int sweeps = std::min(options.check_every, options.max_iterations - iteration);
    jacobi_sweeps(&f_old, &f_new, found, sweeps, ranks, slab, division, streams);
    // Now that the GPU has work: what did the sweeps before find?
    if (iteration > 0) run.record(iteration, residual = wait_for(found_before, ranks, n));
    iteration += sweeps;
    std::swap(found, found_before);
  }
  run.record(iteration, wait_for(found_before, ranks, n));  // the last ones were still under way

  // Where somebody wants the result, rank 0 asks the others for some rows at a time. They are
  // copied without their padding: `width` bytes of each pitch.
  const int exit_code = ranks.finish(run, slab.begin, slab.end, [=](float* to, int j, int rows) {
    const std::size_t width = n * sizeof(float), pitch = pitch_of(n) * sizeof(float);
    CUDA_CHECK(cudaMemcpy2D(to, width, f_old + idx(0, j - slab.held_begin, n), pitch, width, rows,
                            cudaMemcpyDeviceToHost));
  });
  free_found(found);
  free_found(found_before);
  free_streams(streams);
  free_fields(f_old, f_new, sums);
  return exit_code;
}
