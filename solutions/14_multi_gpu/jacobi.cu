// 14_multi_gpu: rows split over ranks, a GPU each
//
// Changed: several processes, the ranks, compute one field. Each has some of its rows on a GPU of
// its own, and beside them the halo: the rows of its neighbours that a pass reads. Before a pass
// the ranks exchange as many rows as it makes sweeps, and wait for them. Residuals are summed over
// all ranks, at checks alone.
//
//   make check STEP=14, make run STEP=14 RANKS=4
//   Ask the profiler: where do ranks wait?

#include <algorithm>
#include <climits>
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

constexpr int kDefaultN = 32768;  // points a side, unless --n says otherwise
constexpr int kLanes = 32;        // threads of a warp; each has four columns of its strip

// What scripts/publish/tune.py found best on an H200.
constexpr int kLevels = 12;               // sweeps a pass
constexpr int kFewLevels = 4;             // where fewer are left; then one by one
constexpr int kCheckEvery = 4 * kLevels;  // sweeps from one residual to the next (--check-every)
constexpr int kWarps = 2;                 // warps a block, each with a strip of its own
constexpr int kBlocks = 6;                // blocks that a multiprocessor's registers must do for
constexpr int kRing = 8;                  // rows in shared memory, all but one under way
constexpr int kHalo = (kLevels + 3) / 4 * 4;   // columns that are wrong in the end, on both sides,
constexpr int kKept = 4 * kLanes - 2 * kHalo;  // and those between, which the warp stores

// The rows of a rank: it computes rows begin to end - 1, and holds those from held_begin to
// held_end - 1. What it only holds is its halo: kLevels rows of each neighbour.
struct Slab {
  int n;  // points a side of the whole field
  int begin, end;
  int held_begin, held_end;
  int block_rows;  // how many rows a block of the pass stores
};

Slab slab_of_rank(int rank, int ranks, int n) {
  const int begin = int(std::size_t(n) * rank / ranks);
  const int end = int(std::size_t(n) * (rank + 1) / ranks);
  return {n, begin, end, std::max(begin - kLevels, 0), std::min(end + kLevels, n), 0};
}

// Where point (i, j) stands in memory. i is x and j is y; i runs from 0 to n - 1, and j from the
// first row that the rank holds. A row is padded to a multiple of 32 floats, its pitch: the padding
// has no part in the result.
__host__ __device__ inline std::size_t idx(int i, int j, int n) {
  return std::size_t(j) * ((n + 31) / 32 * 32) + i;
}
__host__ __device__ inline int pitch_of(int n) { return int(idx(0, 1, n)); }

// The rank's rows of two fields, and the sum of the squared changes, all in the GPU's memory.
void allocate_fields(float** f_old, float** f_new, double** sum, const lab::Ranks& ranks,
                     const Slab& slab) {
  nvtxRangePush("allocate_fields");
  ranks.require_gpu_memory(slab.n, kLevels, 2 * sizeof(float));
  const std::size_t bytes = idx(0, slab.held_end - slab.held_begin, slab.n) * sizeof(float);
  CUDA_CHECK(cudaMalloc(f_old, bytes));
  CUDA_CHECK(cudaMalloc(f_new, bytes));
  CUDA_CHECK(cudaMalloc(sum, sizeof(double)));
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

// Blocks from the west side to the east side, and as many again as share rows at the sides.
__host__ __device__ inline int blocks_across(int n) {
  return (n + kWarps * kKept - 1) / (kWarps * kKept);
}
__host__ __device__ inline int blocks_in_a_row(int n) {
  return blocks_across(n) + (blocks_across(n) > 1 ? 2 : 1);
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
//
// A block stores `rows` rows of its strips. At the sides of the grid it is slower, as some columns
// there must keep their values: two blocks share those rows. With kSum the changes of the last
// sweep are squared and summed; that takes time, too, so passes leave it out if nobody asks.
enum class Near { kNothing, kSide, kEnd };  // which boundary may be near
template <int kSweeps, bool kSum>
__global__ void __launch_bounds__(kLanes* kWarps, kBlocks)
    jacobi_pass_kernel(float* __restrict__ f_new, const float* __restrict__ f_old, double* sum,
                       Slab slab) {
  const int n = slab.n, rows = slab.block_rows, lane = threadIdx.x, warp = threadIdx.y,
            across = blocks_across(n);
  const bool second = int(blockIdx.x) >= across;  // the second one of two that share rows
  const int x = second ? (blockIdx.x - across) * (across - 1) : blockIdx.x;
  const int i_begin = (x * kWarps + warp) * kKept, i_end = min(i_begin + kKept, n);
  const bool side = i_begin == 0 || i_end + kHalo >= n;
  const int first = x == 0 || x == across - 1 ? (rows + 1) / 2 : rows;  // rows of the first one
  const int j = slab.begin + blockIdx.y * rows, j_begin = j + (second ? first : 0);
  const int j_end = min(second ? j + rows : j_begin + first, slab.end);
  if (i_begin >= n || j_begin >= j_end) return;
  const int i = i_begin - kHalo + 4 * lane;  // the first of the lane's four columns
  unsigned fixed = 0;  // bit k: column i + k is on the boundary or beyond, and keeps its values
  for (int k = 0; k < 4; ++k) fixed |= unsigned(i + k <= 0 || i + k >= n - 1) << k;

  // Each lane fetches what it will read itself: no barrier. Beyond what is held any row will do.
  __shared__ float4 ring[kWarps][kRing][kLanes];
  int y = max(j_begin - kSweeps, 0);  // the row that arrives
  const float* from = f_old + idx(min(max(i, 0), pitch_of(n) - 4), y - slab.held_begin, n);
  const auto fetch = [&](int row, Near near) {
    __pipeline_memcpy_async(&ring[warp][unsigned(row) % kRing][lane], from, sizeof(float4));
    __pipeline_commit();
    if (near != Near::kEnd || row < slab.held_end - 1) from += pitch_of(n);
  };

  Level level[kSweeps] = {};
  double thread_sum = 0.0;
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
      if constexpr (kSum) {
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
      arrive(y++, Near::kSide);
    } else {
#pragma unroll 3
      for (; y < min(y_end, slab.held_end - kRing); ++y) arrive(y, Near::kNothing);
    }
  }

  if constexpr (kSum) {
    for (int k = kLanes / 2; k > 0; k /= 2) thread_sum += __shfl_down_sync(~0u, thread_sum, k);
    if (lane == 0) atomicAdd(sum, thread_sum);
  }
}

// The GPU holds so many blocks at once, a wave, and sweeps kLevels rows on both sides of a block's
// own again. So the best number of rows fills whole waves, with few blocks.
int best_block_rows(const Slab& slab) {
  const int own_rows = slab.end - slab.begin;
  int device, multiprocessors;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  const long wave = multiprocessors * kBlocks;
  long best = own_rows, best_cost = LONG_MAX;
  for (long rows = 1; rows <= own_rows; ++rows) {
    const long blocks = (own_rows + rows - 1) / rows * blocks_in_a_row(slab.n);
    const long cost = (blocks + wave - 1) / wave * (rows + 2 * kLevels);
    if (cost < best_cost) best_cost = cost, best = rows;
  }
  return best;
}

// Before a pass of so many sweeps: gives each neighbour the rows beside it, and gets as many.
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

// `sum` is null where nobody asks for it.
template <int kSweeps>
void jacobi_pass(float** f_old, float** f_new, double* sum, lab::Ranks& ranks, const Slab& slab) {
  exchange_halos(*f_old, kSweeps, ranks, slab);
  nvtxRangePush("jacobi_pass");
  const int rows = slab.end - slab.begin, chunks = (rows + slab.block_rows - 1) / slab.block_rows;
  const dim3 grid(blocks_in_a_row(slab.n), chunks);
  const dim3 block(kLanes, kWarps);
  if (sum) {
    jacobi_pass_kernel<kSweeps, true><<<grid, block>>>(*f_new, *f_old, sum, slab);
  } else {
    jacobi_pass_kernel<kSweeps, false><<<grid, block>>>(*f_new, *f_old, nullptr, slab);
  }
  CUDA_CHECK(cudaGetLastError());  // was the launch accepted?
  std::swap(*f_old, *f_new);       // the new field is the old one of the next pass
  nvtxRangePop();
}

// The sum over all ranks, in each of them the same: they go on, or stop, together.
double sum_over_ranks(double* sum, lab::Ranks& ranks) {
  nvtxRangePush("residual");
  if (ranks.has_nccl()) {
    NCCL_CHECK(ncclAllReduce(sum, sum, 1, ncclDouble, ncclSum, ranks.nccl(), nullptr));
  } else {
    ranks.sum(sum, nullptr);
  }
  ranks.wait(nullptr);
  double host_sum;
  CUDA_CHECK(cudaMemcpy(&host_sum, sum, sizeof(double), cudaMemcpyDeviceToHost));
  nvtxRangePop();
  return host_sum;
}

// Makes sweeps, many a pass. Returns the sum of the last one's squared changes, a double: see 00.
double jacobi_sweeps(float** f_old, float** f_new, double* sum, int sweeps, lab::Ranks& ranks,
                     const Slab& slab) {
  nvtxRangePush("jacobi_sweeps");
  CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(double)));
  while (sweeps > 0) {
    const int levels = sweeps >= kLevels ? kLevels : sweeps >= kFewLevels ? kFewLevels : 1;
    const auto pass = levels == kLevels      ? jacobi_pass<kLevels>
                      : levels == kFewLevels ? jacobi_pass<kFewLevels>
                                             : jacobi_pass<1>;
    sweeps -= levels;
    pass(f_old, f_new, sweeps == 0 ? sum : nullptr, ranks, slab);  // the last one's changes alone
  }
  const double host_sum = sum_over_ranks(sum, ranks);
  nvtxRangePop();
  return host_sum;
}

int main(int argc, char** argv) {
  lab::Ranks ranks(&argc, &argv);  // starts MPI
  const lab::Options options = lab::parse_options(argc, argv, {kDefaultN, kCheckEvery});
  const lab::Problem problem(options);
  const int n = options.n;
  ranks.require_rows(n, kLevels);
  ranks.connect();  // a GPU for each rank, and NCCL between them where it can be
  Slab slab = slab_of_rank(ranks.rank(), ranks.size(), n);
  slab.block_rows = best_block_rows(slab);

  float *f_old, *f_new;
  double* sum;
  allocate_fields(&f_old, &f_new, &sum, ranks, slab);
  initialize_field(f_old, problem.initial_old(), slab);
  initialize_field(f_new, problem.initial_new(), slab);

  lab::Run run(options, problem);
  int iteration = 0;
  double residual = std::numeric_limits<double>::infinity();
  while (residual > options.tolerance && iteration < options.max_iterations) {
    const int sweeps = std::min(options.check_every, options.max_iterations - iteration);
    const double squares = jacobi_sweeps(&f_old, &f_new, sum, sweeps, ranks, slab);
    residual = std::sqrt(squares / (double(n) * n));
    run.record(iteration += sweeps, residual);
  }

  // Where somebody wants the result, rank 0 asks the others for some rows at a time. They are
  // copied without their padding: `width` bytes of each pitch.
  const int exit_code = ranks.finish(run, slab.begin, slab.end, [=](float* to, int j, int rows) {
    const std::size_t width = n * sizeof(float), pitch = pitch_of(n) * sizeof(float);
    CUDA_CHECK(cudaMemcpy2D(to, width, f_old + idx(0, j - slab.held_begin, n), pitch, width, rows,
                            cudaMemcpyDeviceToHost));
  });
  free_fields(f_old, f_new, sum);
  return exit_code;
}
