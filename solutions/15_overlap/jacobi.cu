// 15_overlap: the exchange hidden behind the rows that no other rank needs
//
// Changed: two streams. A pass first sweeps the rows at both ends of the rank's slab, in a stream
// with high priority, and gives them to the neighbours. The other stream sweeps the rest at the
// same time. NCCL's kernels need multiprocessors of their own, so each launch gets as many as it
// should have, with one block on each. The host reads each residual late,
// when the next sweeps are queued, and adds the ranks' sums itself.
//
//   make check STEP=15, make run STEP=15 RANKS=4
//   Ask the profiler: what is left exposed?

#include <algorithm>
#include <cmath>
#include <cstddef>
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

constexpr int kDefaultN = 32768;  // points per side, unless --n says otherwise
constexpr int kLanes = 32;        // threads of a warp; each has four columns of its strip

// As in step 13, but blocks are as large as they can be.
constexpr int kLevels = 16;               // sweeps per pass; those left over go one by one
constexpr int kCheckEvery = 4 * kLevels;  // sweeps from one residual to the next (--check-every)
constexpr int kWarps = 8;                 // warps per block: one block fills a multiprocessor
constexpr int kRing = 8;   // rows per warp in shared memory; all but one are in flight
constexpr int kHalo = 16;  // columns at each end of a strip that a pass may spoil: >= kLevels
constexpr int kKept = 4 * kLanes - 2 * kHalo;  // columns between them, which the warp stores
constexpr int kSideRow = 3;  // a row at the west or east side takes as long as this many others

// The rows of a rank: it computes rows begin to end - 1, and holds those from held_begin to
// held_end - 1. What it only holds is its halo: kLevels rows of each neighbour.
struct Slab {
  int n;  // points per side of the whole field
  int begin, end;
  int held_begin, held_end;
};

Slab slab_of_rank(int rank, int ranks, int n) {
  const int begin = int(std::size_t(n) * rank / ranks);
  const int end = int(std::size_t(n) * (rank + 1) / ranks);
  return {n, begin, end, std::max(begin - kLevels, 0), std::min(end + kLevels, n)};
}

// Rows begin to end - 1 of a slab: what one launch sweeps.
struct Part {
  int begin, end;
};

// Where point (i, j) stands in memory. i is x and j is y; i runs from 0 to n - 1, and j from the
// first row that the rank holds. A row is padded to a multiple of 32 floats, its pitch: the padding
// has no part in the result.
__host__ __device__ inline std::size_t idx(int i, int j, int n) {
  return std::size_t(j) * ((n + 31) / 32 * 32) + i;
}
__host__ __device__ inline int pitch_of(int n) { return int(idx(0, 1, n)); }

// The rank's rows of two fields, and two sums of squared changes, of which one is on its way to the
// host while the next one is computed. All are in the GPU's memory. The sums have places on the
// host, too: in pinned memory, which a copy can reach without a wait.
void allocate_fields(float** f_old, float** f_new, double** sums, double** host_sums,
                     const lab::Ranks& ranks, const Slab& slab) {
  nvtxRangePush("allocate_fields");
  ranks.require_gpu_memory(slab.n, kLevels, 2 * sizeof(float));
  const std::size_t bytes = idx(0, slab.held_end - slab.held_begin, slab.n) * sizeof(float);
  CUDA_CHECK(cudaMalloc(f_old, bytes));
  CUDA_CHECK(cudaMalloc(f_new, bytes));
  CUDA_CHECK(cudaMalloc(sums, 2 * sizeof(double)));
  CUDA_CHECK(cudaMemset(*sums, 0, 2 * sizeof(double)));
  CUDA_CHECK(cudaMallocHost(host_sums, 2 * sizeof(double)));
  nvtxRangePop();
}

void free_fields(float* f_old, float* f_new, double* sums, double* host_sums) {
  nvtxRangePush("free_fields");
  CUDA_CHECK(cudaFree(f_old));
  CUDA_CHECK(cudaFree(f_new));
  CUDA_CHECK(cudaFree(sums));
  CUDA_CHECK(cudaFreeHost(host_sums));
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

// What a sweep remembers of a lane's columns: the row that arrived last, and for each point of the
// row south of it the sum of its eastern and northern neighbours. These two are also the southern
// and western neighbours of the point north-east of it, so one addition serves two points.
struct Level {
  float4 row;
  float4 pairs;
};

// Row `north` arrives. Returns 4 times the new values of level->row, the row south of it. All
// factors 1/4 wait until the end, because a power of 2 does not change how sums are rounded.
__device__ __forceinline__ float4 sweep_row(Level* level, float4 north) {
  const float4 c = level->row, before = level->pairs;
  const float east = __shfl_down_sync(~0u, c.x, 1);           // the next lane's first point
  const float south_west = __shfl_up_sync(~0u, before.w, 1);  // the previous lane's last pair
  const float4 pairs = {c.y + north.x, c.z + north.y, c.w + north.z, east + north.w};
  *level = {north, pairs};
  return {pairs.x + south_west, pairs.y + before.x, pairs.z + before.y, pairs.w + before.z};
}

__device__ __forceinline__ float4 times(float factor, float4 f) {
  return {factor * f.x, factor * f.y, factor * f.z, factor * f.w};
}

// The value stays the old one if its bit of `fixed` is set.
__device__ __forceinline__ float4 keep(float4 value, float4 old, unsigned fixed) {
  return {fixed & 1 ? old.x : value.x, fixed & 2 ? old.y : value.y, fixed & 4 ? old.z : value.z,
          fixed & 8 ? old.w : value.w};
}

// Performs kSweeps sweeps of rows j_begin to j_end - 1 of strip x. Row after row arrives, and goes
// through all levels at once:
//
//   row y, old       arrives: level[0] keeps it, and gives the new values of the row before:
//   row y - 1        after sweep 1: level[1] keeps it, and gives those of the row before:
//   row y - 2        after sweep 2: level[2] keeps it, ...
//   row y - kSweeps  after the last sweep: is stored
//
// Returns the lane's squared changes of the last sweep, if kSum asks for them.
template <int kSweeps, bool kSum>
__device__ double march(float* __restrict__ f_new, const float* __restrict__ f_old, int x,
                        int j_begin, int j_end, Slab slab) {
  // The first strip begins kHalo columns beyond the side, so that every row that a warp fetches
  // begins with a line of 128 bytes, and every row that it stores with half of one.
  const int n = slab.n, lane = threadIdx.x, i_begin = x * kKept - kHalo;
  const bool last = i_begin + kKept + kHalo >= n;      // the last strip stores all that it fetches
  const int i = i_begin - kHalo + 4 * lane;            // the first of the lane's four columns
  const int column = min(max(i, 0), pitch_of(n) - 4);  // beyond the grid any other one will do
  const bool stores = i >= max(i_begin, 0) && i < (last ? n : i_begin + kKept);
  unsigned fixed = 0;  // bit k: column i + k is on the boundary or beyond, and keeps its values
  for (int k = 0; k < 4; ++k) fixed |= unsigned(i + k <= 0 || i + k >= n - 1) << k;

  // Each lane fetches only what it reads itself, so no barrier is needed. Row y_begin + k goes to
  // place k % kRing.
  __shared__ float4 rings[kWarps][kRing][kLanes];
  float4(*ring)[kLanes] = rings[threadIdx.y];
  const int y_begin = max(j_begin - kSweeps, 0), y_end = j_end + kSweeps;
  const int y_last = min(y_end, n) - 1;  // the last row that the march needs
  const float* from = f_old + idx(column, y_begin - slab.held_begin, n);
  const auto fetch = [&](int row, int place) {
    __pipeline_memcpy_async(&ring[place][lane], from, sizeof(float4));
    __pipeline_commit();
    if (row < y_last) from += pitch_of(n);  // after the last row, that row again
  };

  constexpr float kScale = 1.0f / (1ull << 2 * kSweeps);  // 1/4 for each sweep
  Level level[kSweeps] = {};
  double thread_sum = 0.0;
  float* to = f_new + idx(column, j_begin - slab.held_begin, n);
  const auto arrive = [&](int y, int place, bool careful) {  // careful: a boundary may be near
    __pipeline_wait_prior(kRing - 2);  // row y is there, the rows after it are in flight
    fetch(y + kRing - 1, (place + kRing - 1) % kRing);  // to where row y - 1 was
    float4 row = ring[place][lane], old;
#pragma unroll
    for (int l = 0; l < kSweeps; ++l) {
      old = times(4, level[l].row);
      row = sweep_row(&level[l], row);
      if (careful) row = keep(row, old, y - l <= 1 || y - l >= n ? 15 : fixed);
    }
    const bool stored = stores && y >= j_begin + kSweeps && y < y_end;
    if (stored) {
      *reinterpret_cast<float4*>(to) = times(kScale, row);
      to += pitch_of(n);
    }
    if constexpr (kSum) {  // not in the branch above, where a pass takes much longer
      const double a = row.x - old.x, b = row.y - old.y, c = row.z - old.z, d = row.w - old.w;
      const double squares = (a * a + b * b) + (c * c + d * d);
      thread_sum += stored ? squares : 0.0;
    }
  };

  for (int k = 0; k < kRing - 1; ++k) fetch(y_begin + k, k);
  for (int y = y_begin; y < y_end; y += kRing) {
    if (x == 0 || last || y <= kSweeps || y + kRing > n) {
#pragma unroll 1
      for (int k = 0; k < kRing; ++k) arrive(y + k, k, true);
    } else {
#pragma unroll  // so that `place` is a number, and each row of a level stays in its registers
      for (int k = 0; k < kRing; ++k) arrive(y + k, k, false);
    }
  }
  __pipeline_wait_prior(0);  // a few rows too many were fetched, and the ring is used again
  return double(kScale) * kScale * thread_sum;
}

// kSweeps sweeps of one or two parts: blocks (x, 0) of the launch grid sweep the first one, blocks
// (x, 1) the second one. All strips of a part, one after the other, are one long track, of which
// each warp takes an equal share. At a side each row counts kSideRow times, as all of them need
// care. With kSum, which only a pass before a residual has, the changes of the last sweep are
// squared and summed.
template <int kSweeps, bool kSum>
__global__ void __launch_bounds__(kLanes* kWarps)
    jacobi_pass_kernel(float* __restrict__ f_new, const float* __restrict__ f_old, double* sum,
                       Slab slab, Part first, Part second) {
  const Part part = blockIdx.y == 0 ? first : second;
  const int strips = (slab.n + kKept - 1) / kKept;
  const int warps = gridDim.x * kWarps, warp = blockIdx.x * kWarps + threadIdx.y;
  const int length = strips + 2 * (kSideRow - 1);  // of the track, in strips
  // With a whole number of shares per strip, neighbouring strips are swept side by side, and what
  // two warps read comes from memory only once. So a few warps may be left over, without a share.
  const int left_over = warps % length, shares = left_over <= warps / 8 ? warps - left_over : warps;
  const int rows = part.end - part.begin;
  const auto total = std::ptrdiff_t(length) * rows;
  int share_begin = int(total * warp / shares), share_end = int(total * (warp + 1) / shares);
  double thread_sum = 0.0;
  for (int x = 0; x < strips; ++x) {  // the share's rows of strip x, if there are any
    const bool side = x == 0 || x == strips - 1;
    const int j_begin = part.begin + max(side ? share_begin / kSideRow : share_begin, 0);
    const int j_end = part.begin + min(side ? share_end / kSideRow : share_end, rows);
    if (j_begin < j_end) thread_sum += march<kSweeps, kSum>(f_new, f_old, x, j_begin, j_end, slab);
    share_begin -= side ? kSideRow * rows : rows;  // to be counted from the next strip on
    share_end -= side ? kSideRow * rows : rows;
  }

  if constexpr (kSum) {
    for (int k = kLanes / 2; k > 0; k /= 2) thread_sum += __shfl_down_sync(~0u, thread_sum, k);
    if (threadIdx.x == 0) atomicAdd(sum, thread_sum);
  }
}

// The two streams of a pass, each with an event for its end, and a third stream for the sums, so
// that copying a sum delays no pass.
struct Streams {
  cudaStream_t ends, rest, sums;
  cudaEvent_t ends_done, rest_done;
};

cudaEvent_t create_event() {
  cudaEvent_t event;
  CUDA_CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  return event;
}

Streams create_streams() {
  Streams streams{nullptr, nullptr, nullptr, create_event(), create_event()};
  int low, high;  // the higher the priority, the lower the number
  CUDA_CHECK(cudaDeviceGetStreamPriorityRange(&low, &high));
  CUDA_CHECK(cudaStreamCreateWithPriority(&streams.ends, cudaStreamNonBlocking, high));
  CUDA_CHECK(cudaStreamCreateWithPriority(&streams.rest, cudaStreamNonBlocking, low));
  CUDA_CHECK(cudaStreamCreateWithFlags(&streams.sums, cudaStreamNonBlocking));
  return streams;
}

// Sends each neighbour the kLevels rows next to it, and receives as many, in the stream's order.
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

// How a pass is divided: the ends (kLevels rows next to each neighbour), the rest, and how many
// multiprocessors sweep each. The ends take about half of the pass. In the other half their
// multiprocessors are free for NCCL's kernel.
struct Division {
  Part south_end, rest, north_end;
  int end_blocks, rest_blocks;
};

Division divide(const Slab& slab) {
  const int south = slab.begin > 0, north = slab.end < slab.n;  // 1 if there is a neighbour
  Division division;
  division.south_end = {slab.begin, slab.begin + south * kLevels};
  // If the ends would overlap, the north end has fewer rows, and the rest none.
  division.north_end = {std::max(slab.end - north * kLevels, division.south_end.end), slab.end};
  division.rest = {division.south_end.end, division.north_end.begin};
  // To store the kLevels rows of an end a warp marches through three times as many.
  const int multiprocessors = lab::multiprocessors(), rows = slab.end - slab.begin;
  const int blocks_needed = 2 * multiprocessors * 3 * kLevels / rows;  // rounded down
  division.end_blocks = std::max(std::min(blocks_needed, multiprocessors / 4), 1);
  division.rest_blocks = std::max(multiprocessors - (south + north) * division.end_blocks, 1);
  return division;
}

// A sum of squared changes, and its way to the host.
struct Found {
  double* sum;       // in the GPU's memory
  double* host_sum;  // in pinned memory
  cudaEvent_t done;
};

// Queues the copy of a sum to the host, when the last pass has swept the ends and the rest.
void copy_sum(const Found& found, const Streams& streams) {
  nvtxRangePush("residual");
  CUDA_CHECK(cudaStreamWaitEvent(streams.sums, streams.ends_done, 0));
  CUDA_CHECK(cudaStreamWaitEvent(streams.sums, streams.rest_done, 0));
  CUDA_CHECK(cudaMemcpyAsync(found.host_sum, found.sum, sizeof(double), cudaMemcpyDeviceToHost,
                             streams.sums));
  CUDA_CHECK(cudaMemsetAsync(found.sum, 0, sizeof(double), streams.sums));  // for the next time
  CUDA_CHECK(cudaEventRecord(found.done, streams.sums));
  nvtxRangePop();
}

// Queues sweeps, many per pass, and the sum of the last one's squared changes. Waits for nothing. A
// pass has two streams, of which each waits for what the other did in the pass before:
//
//   ends   | rows at both ends | exchange with the neighbours |      | rows at both ends | ...
//   rest   |         all other rows, which need no halo              | all other rows ...
void jacobi_sweeps(float** f_old, float** f_new, const Found& found, int sweeps, lab::Ranks& ranks,
                   const Slab& slab, const Division& division, const Streams& streams) {
  nvtxRangePush("jacobi_sweeps");
  while (sweeps > 0) {
    nvtxRangePush("jacobi_pass");
    const bool whole = sweeps >= kLevels;
    sweeps -= whole ? kLevels : 1;
    const auto with_sum = whole ? jacobi_pass_kernel<kLevels, true> : jacobi_pass_kernel<1, true>;
    const auto without = whole ? jacobi_pass_kernel<kLevels, false> : jacobi_pass_kernel<1, false>;
    const auto pass_kernel = sweeps == 0 ? with_sum : without;  // only the last one's changes
    const auto sweep = [&](Part first, Part second, dim3 blocks, cudaStream_t stream) {
      if (first.begin == first.end && second.begin == second.end) return;
      const dim3 block(kLanes, kWarps);
      pass_kernel<<<blocks, block, 0, stream>>>(*f_new, *f_old, found.sum, slab, first, second);
      CUDA_CHECK(cudaGetLastError());  // was the launch accepted?
    };
    CUDA_CHECK(cudaStreamWaitEvent(streams.ends, streams.rest_done, 0));
    CUDA_CHECK(cudaStreamWaitEvent(streams.rest, streams.ends_done, 0));
    const dim3 end_blocks(division.end_blocks, 2), rest_blocks(division.rest_blocks);
    sweep(division.south_end, division.north_end, end_blocks, streams.ends);  // one may be empty
    CUDA_CHECK(cudaEventRecord(streams.ends_done, streams.ends));
    sweep(division.rest, division.rest, rest_blocks, streams.rest);
    CUDA_CHECK(cudaEventRecord(streams.rest_done, streams.rest));
    exchange_halos(*f_new, ranks, slab, streams.ends);
    std::swap(*f_old, *f_new);  // the new field is the old one of the next pass
    nvtxRangePop();
  }
  copy_sum(found, streams);
  nvtxRangePop();
}

// Waits for the sweeps of `found`, but for no later ones. Returns the residual of the last of them,
// which is the same in all ranks, so that they go on, or stop, together.
double wait_for(const Found& found, lab::Ranks& ranks, int n) {
  nvtxRangePush("wait_for");
  ranks.wait_for(found.done);
  const double squares = ranks.sum(*found.host_sum);  // by MPI: the GPUs have other work
  nvtxRangePop();
  return std::sqrt(squares / (double(n) * n));
}

int main(int argc, char** argv) {
  lab::Ranks ranks(&argc, &argv);  // starts MPI
  const lab::Options options = lab::parse_options(argc, argv, {kDefaultN, kCheckEvery});
  const lab::Problem problem(options);
  const int n = options.n;
  ranks.require_rows(n, kLevels);
  ranks.connect();  // a GPU for each rank, and NCCL between them if it can be
  const Slab slab = slab_of_rank(ranks.rank(), ranks.size(), n);
  const Division division = divide(slab);

  float *f_old, *f_new;
  double *sums, *host_sums;
  allocate_fields(&f_old, &f_new, &sums, &host_sums, ranks, slab);
  initialize_field(f_old, problem.initial_old(), slab);
  initialize_field(f_new, problem.initial_new(), slab);

  const Streams streams = create_streams();
  Found found{sums, host_sums, create_event()};
  Found found_before{sums + 1, host_sums + 1, create_event()};

  lab::Run run(options, problem);
  int iteration = 0;
  double residual = std::numeric_limits<double>::infinity();
  while (residual > options.tolerance && iteration < options.max_iterations) {
    const int sweeps = std::min(options.check_every, options.max_iterations - iteration);
    jacobi_sweeps(&f_old, &f_new, found, sweeps, ranks, slab, division, streams);
    // Now that the GPU has work: what did the sweeps before find?
    if (iteration > 0) {
      residual = wait_for(found_before, ranks, n);
      run.record(iteration, residual);
    }
    iteration += sweeps;
    std::swap(found, found_before);
  }
  run.record(iteration, wait_for(found_before, ranks, n));  // the last ones were still queued

  // If the result is wanted, rank 0 asks the others for some rows at a time. They are copied
  // without their padding: `width` bytes of each pitch.
  const int exit_code = ranks.finish(run, slab.begin, slab.end, [=](float* to, int j, int rows) {
    const std::size_t width = n * sizeof(float), pitch = pitch_of(n) * sizeof(float);
    CUDA_CHECK(cudaMemcpy2D(to, width, f_old + idx(0, j - slab.held_begin, n), pitch, width, rows,
                            cudaMemcpyDeviceToHost));
  });
  for (cudaEvent_t event : {streams.ends_done, streams.rest_done, found.done, found_before.done}) {
    CUDA_CHECK(cudaEventDestroy(event));
  }
  for (cudaStream_t stream : {streams.ends, streams.rest, streams.sums}) {
    CUDA_CHECK(cudaStreamDestroy(stream));
  }
  free_fields(f_old, f_new, sums, host_sums);
  return exit_code;
}
