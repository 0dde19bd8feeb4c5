// 15_overlap: the exchange hidden behind the rows that no other rank needs
//
// Start: the code of step 14.
// Task:  two streams. A pass sweeps the rows at both ends of the rank's slab first, and exchanges
//        them while all other rows are swept. The host reads each residual late.
//
//   make check STEP=15, make run STEP=15 WHICH=exercise RANKS=4
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

// TODO(15): stage 4. Blocks of 8 warps, so that one fills a multiprocessor; kBlocks goes.
// scripts/publish/experiments.py tries other values.
constexpr int kLevels = 16;               // sweeps per pass; those left over go one by one
constexpr int kCheckEvery = 4 * kLevels;  // sweeps from one residual to the next (--check-every)
constexpr int kWarps = 2;                 // warps per block; each marches by itself
constexpr int kBlocks = 4;  // blocks that a multiprocessor holds at once, with their registers
constexpr int kRing = 8;    // rows per warp in shared memory; all but one are in flight
constexpr int kHalo = 16;   // columns at each end of a strip that a pass may spoil: >= kLevels
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

// TODO(15): stage 1. struct Part {int begin, end}: the rows of a slab that one launch sweeps. The
//   kernel gets it.
// Where point (i, j) stands in memory. i is x and j is y; i runs from 0 to n - 1, and j from the
// first row that the rank holds. A row is padded to a multiple of 32 floats, its pitch: the padding
// has no part in the result.
__host__ __device__ inline std::size_t idx(int i, int j, int n) {
  return std::size_t(j) * ((n + 31) / 32 * 32) + i;
}
__host__ __device__ inline int pitch_of(int n) { return int(idx(0, 1, n)); }

// TODO(15): stage 5. Two sums, one for the host to read and one to add to; both zero at first.
// The rank's rows of two fields, and the sum of the squared changes, all in the GPU's memory. The
// sum has a place on the host, too: in pinned memory, which a copy can reach without a wait.
void allocate_fields(float** f_old, float** f_new, double** sum, double** host_sum,
                     const lab::Ranks& ranks, const Slab& slab) {
  nvtxRangePush("allocate_fields");
  ranks.require_gpu_memory(slab.n, kLevels, 2 * sizeof(float));
  const std::size_t bytes = idx(0, slab.held_end - slab.held_begin, slab.n) * sizeof(float);
  CUDA_CHECK(cudaMalloc(f_old, bytes));
  CUDA_CHECK(cudaMalloc(f_new, bytes));
  CUDA_CHECK(cudaMalloc(sum, sizeof(double)));
  CUDA_CHECK(cudaMallocHost(host_sum, sizeof(double)));
  nvtxRangePop();
}

void free_fields(float* f_old, float* f_new, double* sum, double* host_sum) {
  nvtxRangePush("free_fields");
  CUDA_CHECK(cudaFree(f_old));
  CUDA_CHECK(cudaFree(f_new));
  CUDA_CHECK(cudaFree(sum));
  CUDA_CHECK(cudaFreeHost(host_sum));
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

// TODO(15): stage 1. The track has only the rows of the part. (march does not change.)
// A pass of kSweeps sweeps. All strips, one after the other, are one long track, of which each warp
// takes an equal share. At a side each row counts kSideRow times, as all of them need care. With
// kSum, which only a pass before a residual has, the changes of the last sweep are squared and
// summed.
template <int kSweeps, bool kSum>
__global__ void __launch_bounds__(kLanes* kWarps, kBlocks)
    jacobi_pass_kernel(float* __restrict__ f_new, const float* __restrict__ f_old, double* sum,
                       Slab slab) {
  const int strips = (slab.n + kKept - 1) / kKept;
  const int warps = gridDim.x * kWarps, warp = blockIdx.x * kWarps + threadIdx.y;
  const int length = strips + 2 * (kSideRow - 1);  // of the track, in strips
  // With a whole number of shares per strip, neighbouring strips are swept side by side, and what
  // two warps read comes from memory only once. So a few warps may be left over, without a share.
  const int left_over = warps % length, shares = left_over <= warps / 8 ? warps - left_over : warps;
  const int rows = slab.end - slab.begin;
  const auto total = std::ptrdiff_t(length) * rows;
  int share_begin = int(total * warp / shares), share_end = int(total * (warp + 1) / shares);
  double thread_sum = 0.0;
  for (int x = 0; x < strips; ++x) {  // the share's rows of strip x, if there are any
    const bool side = x == 0 || x == strips - 1;
    const int j_begin = slab.begin + max(side ? share_begin / kSideRow : share_begin, 0);
    const int j_end = slab.begin + min(side ? share_end / kSideRow : share_end, rows);
    if (j_begin < j_end) thread_sum += march<kSweeps, kSum>(f_new, f_old, x, j_begin, j_end, slab);
    share_begin -= side ? kSideRow * rows : rows;  // to be counted from the next strip on
    share_end -= side ? kSideRow * rows : rows;
  }

  if constexpr (kSum) {
    for (int k = kLanes / 2; k > 0; k /= 2) thread_sum += __shfl_down_sync(~0u, thread_sum, k);
    if (threadIdx.x == 0) atomicAdd(sum, thread_sum);
  }
}

// TODO(15): stage 3. struct Streams: two streams that do not block, the one of the ends with the
//   highest priority, and an event of each.
// TODO(15): stage 4. A launch gets as many blocks as it should have multiprocessors. One launch
//   sweeps both ends: a launch grid with two rows of blocks, and a kernel that gets two parts.
// TODO(15): stage 2. Always kLevels rows, of the field that a pass has computed, for the next one,
//   however many sweeps that will perform. From stage 3 on in a stream that is given, and without
//   a wait.
// Before a pass of that many sweeps: gives each neighbour the rows next to it, and gets as many.
void exchange_halos(float* f, int sweeps, lab::Ranks& ranks, const Slab& slab) {
  nvtxRangePush("exchange_halos");
  const int south = ranks.rank() - 1, north = ranks.rank() + 1;
  const auto row = [&](int j) { return f + idx(0, j - slab.held_begin, slab.n); };
  const std::size_t values = idx(0, sweeps, slab.n);
  std::vector<lab::Halo> halos;
  if (slab.begin > 0) halos.push_back({south, row(slab.begin), row(slab.begin - sweeps), values});
  if (slab.end < slab.n) halos.push_back({north, row(slab.end - sweeps), row(slab.end), values});

  if (ranks.has_nccl()) {
    NCCL_CHECK(ncclGroupStart());  // as one: no call waits for the one before
    for (const lab::Halo& halo : halos) {
      NCCL_CHECK(ncclSend(halo.send, values, ncclFloat, halo.rank, ranks.nccl(), nullptr));
      NCCL_CHECK(ncclRecv(halo.receive, values, ncclFloat, halo.rank, ranks.nccl(), nullptr));
    }
    NCCL_CHECK(ncclGroupEnd());
  } else {
    ranks.exchange_through_host(halos, nullptr);
  }
  ranks.wait(nullptr);  // blocking: nothing goes on before the halo is there
  nvtxRangePop();
}

// TODO(15): stages 1 and 4. struct Division: the parts of both ends (kLevels rows at each
//   neighbour's side) and of the rest; from stage 4 on also the multiprocessors of each. A rank may
//   have no neighbour on one side, or on both, and its rows may all be ends. When the ends are
//   done, NCCL uses their multiprocessors.
// The sum over all ranks, in each of them the same: they go on, or stop, together.
double sum_over_ranks(double* sum, double* host_sum, lab::Ranks& ranks) {
  nvtxRangePush("residual");
  if (ranks.has_nccl()) {
    NCCL_CHECK(ncclAllReduce(sum, sum, 1, ncclDouble, ncclSum, ranks.nccl(), nullptr));
  } else {
    ranks.sum(sum, nullptr);
  }
  CUDA_CHECK(cudaMemcpyAsync(host_sum, sum, sizeof(double), cudaMemcpyDeviceToHost));
  ranks.wait(nullptr);
  nvtxRangePop();
  return *host_sum;
}

// TODO(15): stages 1 and 2. A launch for each part that has rows. The call of exchange_halos moves
//   behind them, before the fields change roles, and gets the new field.
// TODO(15): stage 3. A pass: each stream waits for the other one's event of the previous pass. Then
//   the ends, their event, the rest, its event, and the exchange of the new field, after the ends
//   in their stream. (It is queued last, because through the host it waits.) Neither stream waits
//   for the default stream, so until stage 5 the sum goes into that of the ends, after rest_done.
// TODO(15): stage 5. The host reads each sum one check late, as in step 11: struct Found has the
//   sum on the GPU, its copy in pinned memory, and an event. A third stream waits for the ends and
//   the rest of the last pass. Then come the copy to the host, the sum set to zero for its next
//   turn, and the event. The host waits for it, and adds the sums of all ranks (ranks.sum).
// Performs sweeps, many per pass. Returns the sum of the last one's squared changes, in double.
double jacobi_sweeps(float** f_old, float** f_new, double* sum, double* host_sum, int sweeps,
                     int blocks, lab::Ranks& ranks, const Slab& slab) {
  nvtxRangePush("jacobi_sweeps");
  CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(double)));
  while (sweeps > 0) {
    const bool whole = sweeps >= kLevels;
    exchange_halos(*f_old, whole ? kLevels : 1, ranks, slab);
    nvtxRangePush("jacobi_pass");
    sweeps -= whole ? kLevels : 1;
    const auto with_sum = whole ? jacobi_pass_kernel<kLevels, true> : jacobi_pass_kernel<1, true>;
    const auto without = whole ? jacobi_pass_kernel<kLevels, false> : jacobi_pass_kernel<1, false>;
    const auto pass_kernel = sweeps == 0 ? with_sum : without;  // only the last one's changes
    pass_kernel<<<blocks, dim3(kLanes, kWarps)>>>(*f_new, *f_old, sum, slab);
    CUDA_CHECK(cudaGetLastError());  // was the launch accepted?
    std::swap(*f_old, *f_new);       // the new field is the old one of the next pass
    nvtxRangePop();
  }
  const double squares = sum_over_ranks(sum, host_sum, ranks);
  nvtxRangePop();
  return squares;
}

int main(int argc, char** argv) {
  lab::Ranks ranks(&argc, &argv);  // starts MPI
  const lab::Options options = lab::parse_options(argc, argv, {kDefaultN, kCheckEvery});
  const lab::Problem problem(options);
  const int n = options.n;
  ranks.require_rows(n, kLevels);
  ranks.connect();  // a GPU for each rank, and NCCL between them if it can be
  const Slab slab = slab_of_rank(ranks.rank(), ranks.size(), n);
  // TODO(15): stages 1 and 4. divide(slab) instead.
  const int blocks = kBlocks * lab::multiprocessors();  // as many as the GPU holds at once

  float *f_old, *f_new;
  double *sum, *host_sum;
  allocate_fields(&f_old, &f_new, &sum, &host_sum, ranks, slab);
  initialize_field(f_old, problem.initial_old(), slab);
  initialize_field(f_new, problem.initial_new(), slab);

  // TODO(15): stages 3 and 5. The streams, and two Found; in the end they are freed.
  lab::Run run(options, problem);
  int iteration = 0;
  double residual = std::numeric_limits<double>::infinity();
  while (residual > options.tolerance && iteration < options.max_iterations) {
    const int sweeps = std::min(options.check_every, options.max_iterations - iteration);
    // TODO(15): stage 5. Queue these sweeps; then wait for the residual of those before, and record
    //   that. After the loop the last one is still to come.
    const double squares =
        jacobi_sweeps(&f_old, &f_new, sum, host_sum, sweeps, blocks, ranks, slab);
    residual = std::sqrt(squares / (double(n) * n));
    iteration += sweeps;
    run.record(iteration, residual);
  }

  // If the result is wanted, rank 0 asks the others for some rows at a time. They are copied
  // without their padding: `width` bytes of each pitch.
  const int exit_code = ranks.finish(run, slab.begin, slab.end, [=](float* to, int j, int rows) {
    const std::size_t width = n * sizeof(float), pitch = pitch_of(n) * sizeof(float);
    CUDA_CHECK(cudaMemcpy2D(to, width, f_old + idx(0, j - slab.held_begin, n), pitch, width, rows,
                            cudaMemcpyDeviceToHost));
  });
  free_fields(f_old, f_new, sum, host_sum);
  return exit_code;
}
