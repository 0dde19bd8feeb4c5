// 12_register_march: a row is read once, and stays in registers
//
// Start: the code of step 11.
// Task:  a warp marches up a strip of 128 columns. It keeps the rows that it needs in registers,
//        loads 16 bytes at once, and has the next rows in flight. Rows are padded. The tile goes,
//        and so does the graph: at this n a launch takes far less time than a sweep.
//
//   make check STEP=12
//   Ask the profiler: what fraction of the copy bandwidth is that?

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#include <cub/block/block_reduce.cuh>

#include <lab/cuda_check.h>
#include <lab/gpu_memory.h>
#include <lab/options.h>
#include <lab/problem.h>
#include <lab/run.h>

// TODO(12): stage 2. n = 16384. Stage 3: a block is kWarps = 4 warps of kLanes = 32 threads, side
//   by side. A warp marches through kRows = 8 rows. No tile. Stage 4: kAhead = 3 more in flight.
constexpr int kDefaultN = 512;   // points per side, unless --n says otherwise
constexpr int kCheckEvery = 10;  // sweeps from one residual to the next (--check-every)
constexpr int kBlockX = 32;      // points per block along i, and threads: one warp
constexpr int kBlockY = 32;      // points per block along j
constexpr int kThreadsY = 4;     // threads per block along j in the sweep, for kBlockY points

constexpr int kTileX = kBlockX + 2;  // a block's points and a halo one point wide around them
constexpr int kTileY = kBlockY + 2;

// TODO(12): (stage 1) Pad each row to a multiple of 32 floats, its pitch: idx, and a function
//   pitch_of(n). Then every row begins at a multiple of 16 bytes, which a float4 needs.
// Where point (i, j) stands in memory. i is x and j is y; both run from 0 to n - 1.
__host__ __device__ inline std::size_t idx(int i, int j, int n) { return std::size_t(j) * n + i; }

// Two fields of n x n floats: a sweep reads the old one and writes the new one. They are in the
// GPU's memory, as is the sum of the squared changes: the CPU cannot touch them, nothing migrates.
void allocate_fields(float** f_old, float** f_new, double** sum, int n) {
  nvtxRangePush("allocate_fields");
  lab::require_gpu_memory(n, 2 * sizeof(float));
  const std::size_t bytes = std::size_t(n) * n * sizeof(float);
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

// TODO(12): (stage 1) Write zeros into the padding. And allocate_fields needs room for it.
__global__ void initialize_field_kernel(float* f, lab::StartingValue start, int n) {
  const int j = blockIdx.x;  // a block fills one row
  for (int i = threadIdx.x; i < n; i += blockDim.x) f[idx(i, j, n)] = start(i, j);
}

// Gives every point its starting value; no sweep changes those on the boundary.
void initialize_field(float* f, const lab::StartingField& start, int n) {
  nvtxRangePush("initialize_field");
  const lab::StartOnGpu on_gpu(start);  // the boundary's values, copied for the kernel
  initialize_field_kernel<<<n, kBlockX * kBlockY>>>(f, on_gpu.value(), n);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  nvtxRangePop();
}

// TODO(12): (stage 3) What a lane has of a row: struct Row, a float4 and one float beyond (lane 0:
//   the point west of the strip; lane 31: the one east of it). load_row fills it from f_old. No
//   lane reads past its row's pitch, though its strip may go on beyond that.
// TODO(12): (stage 3) sweep_row computes a lane's four new values from its rows south, centre and
//   north. The values east and west of the four come with __shfl_down_sync and __shfl_up_sync. The
//   boundary and the padding keep their values.
// TODO(12): (stage 2) The kernel has no kCheck: every sweep sums again. (Stage 3) For each of its
//   rows a warp loads three, sweeps, and stores four values per lane. Then it keeps two of them,
//   and loads only the new one. (Stage 4) While it sweeps one row, the kAhead rows after the
//   northern one are in flight. No row moves from one place of the array to another: a loop in
//   steps of kAhead, and an unrolled one in it.
// A block updates kBlockX x kBlockY points: its thread (x, y) has those of column x in the rows y,
// y + kThreadsY, y + 2 kThreadsY ... Without kCheck the changes are not wanted, and the compiler
// leaves out what computes them.
template <bool kCheck>
__global__ void jacobi_sweep_kernel(float* __restrict__ f_new, const float* __restrict__ f_old,
                                    double* sum, int n) {
  // tile[y + 1][x + 1] is point (x, y) of the block's part of the grid; the ring around them is the
  // halo, points of the blocks next door. All threads share the loading, 128 points per round, so
  // that warps stay full where rows end.
  __shared__ float tile[kTileY][kTileX];
  for (int k = threadIdx.y * kBlockX + threadIdx.x; k < kTileX * kTileY; k += kBlockX * kThreadsY) {
    const int tile_x = k % kTileX, tile_y = k / kTileX;
    const int i = blockIdx.x * kBlockX + tile_x - 1;
    const int j = blockIdx.y * kBlockY + tile_y - 1;
    if (i >= 0 && i < n && j >= 0 && j < n) tile[tile_y][tile_x] = f_old[idx(i, j, n)];
  }
  __syncthreads();  // no thread reads the tile before all have written it

  const int x = threadIdx.x;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  double thread_sum = 0.0;
  for (int y = threadIdx.y; y < kBlockY; y += kThreadsY) {
    const int j = blockIdx.y * kBlockY + y;

    // The launch grid is rounded up to whole blocks: not every thread has an interior point.
    if (i >= 1 && i < n - 1 && j >= 1 && j < n - 1) {
      const float east = tile[y + 1][x + 2];
      const float north = tile[y + 2][x + 1];
      const float west = tile[y + 1][x];
      const float south = tile[y][x + 1];
      const float value = 0.25f * ((east + north) + (west + south));
      const double change = value - tile[y + 1][x + 1];
      f_new[idx(i, j, n)] = value;
      thread_sum += change * change;
    }
  }

  if (!kCheck) return;
  // All threads of the block take part. Those without a point bring zero.
  using BlockReduce =
      cub::BlockReduce<double, kBlockX, cub::BLOCK_REDUCE_WARP_REDUCTIONS, kThreadsY>;
  __shared__ typename BlockReduce::TempStorage reduce_storage;
  const double block_sum = BlockReduce(reduce_storage).Sum(thread_sum);
  // Only the first thread has the result.
  if (threadIdx.x == 0 && threadIdx.y == 0) atomicAdd(sum, block_sum);
}

// TODO(12): (stage 2) No stream, no events, no graph: jacobi_sweeps performs the sweeps from one
//   residual to the next, waits, and returns the last one's sum, as jacobi_sweep of step 10 did.
//   Pass, create_pass and wait_for go.
// Queues sweeps over the interior, the fields changing roles after each, and a copy of the last
// one's sum of squared changes to the host. Waits for nothing. The sum is a double, because a
// float sum of n^2 terms can be off by more than the contribution of a whole row.
void jacobi_sweeps(float** f_old, float** f_new, double* sum, double* host_sum, int sweeps, int n,
                   cudaStream_t stream) {
  nvtxRangePush("jacobi_sweeps");
  CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(double), stream));
  const dim3 block(kBlockX, kThreadsY);
  const dim3 grid((n + kBlockX - 1) / kBlockX, (n + kBlockY - 1) / kBlockY);
  for (int k = 1; k <= sweeps; ++k) {
    const auto kernel = k < sweeps ? jacobi_sweep_kernel<false> : jacobi_sweep_kernel<true>;
    kernel<<<grid, block, 0, stream>>>(*f_new, *f_old, sum, n);
    CUDA_CHECK(cudaGetLastError());  // was the launch accepted?
    std::swap(*f_old, *f_new);       // the new field is the old one of the next sweep
  }
  CUDA_CHECK(cudaMemcpyAsync(host_sum, sum, sizeof(double), cudaMemcpyDeviceToHost, stream));
  nvtxRangePop();
}

// The sweeps from one residual to the next. Two passes take turns: while the GPU is busy with one,
// the host reads what the other has found.
struct Pass {
  cudaGraphExec_t graph;
  cudaEvent_t done;
  double* host_sum;  // in pinned memory: a copy to it need not wait for the host
};

// Captures the sweeps of a pass as a graph: they are noted, with the pointers of now, and not run.
Pass create_pass(float** f_old, float** f_new, double* sum, int sweeps, int n,
                 cudaStream_t stream) {
  Pass pass;
  CUDA_CHECK(cudaEventCreateWithFlags(&pass.done, cudaEventDisableTiming));
  CUDA_CHECK(cudaMallocHost(&pass.host_sum, sizeof(double)));
  cudaGraph_t graph;
  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  jacobi_sweeps(f_old, f_new, sum, pass.host_sum, sweeps, n, stream);
  CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  CUDA_CHECK(cudaGraphInstantiate(&pass.graph, graph, 0));
  CUDA_CHECK(cudaGraphDestroy(graph));
  return pass;
}

// Waits for a pass, and for no later one. Returns the residual of its last sweep.
double wait_for(const Pass& pass, int n) {
  nvtxRangePush("wait_for");
  CUDA_CHECK(cudaEventSynchronize(pass.done));  // did all kernels run to their end?
  nvtxRangePop();
  return std::sqrt(*pass.host_sum / (double(n) * n));
}

int main(int argc, char** argv) {
  const lab::Options options = lab::parse_options(argc, argv, {kDefaultN, kCheckEvery});
  const lab::Problem problem(options);
  const int n = options.n;

  float *f_old, *f_new;
  double* sum;
  allocate_fields(&f_old, &f_new, &sum, n);
  initialize_field(f_old, problem.initial_old(), n);
  initialize_field(f_new, problem.initial_new(), n);

  // TODO(12): (stage 2) The loop of step 10 again, with options.check_every sweeps per round, or
  //   fewer at the end.
  // An odd number of sweeps leaves the fields with their roles changed: each pass needs a graph of
  // its own. After both, the roles are as they were.
  cudaStream_t stream;
  CUDA_CHECK(cudaStreamCreate(&stream));
  Pass pass = create_pass(&f_old, &f_new, sum, options.check_every, n, stream);
  Pass pass_before = create_pass(&f_old, &f_new, sum, options.check_every, n, stream);

  lab::Run run(options, problem);
  int iteration = 0;
  double residual = std::numeric_limits<double>::infinity();
  while (residual > options.tolerance && iteration < options.max_iterations) {
    const int sweeps = std::min(options.check_every, options.max_iterations - iteration);
    if (sweeps == options.check_every) {
      CUDA_CHECK(cudaGraphLaunch(pass.graph, stream));
      if (sweeps % 2 == 1) std::swap(f_old, f_new);
    } else {  // the last ones, fewer than the graph has
      jacobi_sweeps(&f_old, &f_new, sum, pass.host_sum, sweeps, n, stream);
    }
    CUDA_CHECK(cudaEventRecord(pass.done, stream));
    // Now that the GPU has work: what did the previous pass find?
    if (iteration > 0) {
      residual = wait_for(pass_before, n);
      run.record(iteration, residual);
    }
    iteration += sweeps;
    std::swap(pass, pass_before);
  }
  run.record(iteration, wait_for(pass_before, n));  // the last pass was still in flight

  // TODO(12): (stage 1) cudaMemcpy2D copies rows whose beginnings are a pitch apart.
  // If the result is wanted, some whole rows of it at a time are copied to the host.
  const int exit_code = run.finish([=](float* to, int j, int rows) {
    const std::size_t bytes = std::size_t(rows) * n * sizeof(float);
    CUDA_CHECK(cudaMemcpy(to, f_old + idx(0, j, n), bytes, cudaMemcpyDeviceToHost));
  });
  for (const Pass& each : {pass, pass_before}) {
    CUDA_CHECK(cudaGraphExecDestroy(each.graph));
    CUDA_CHECK(cudaEventDestroy(each.done));
    CUDA_CHECK(cudaFreeHost(each.host_sum));
  }
  CUDA_CHECK(cudaStreamDestroy(stream));
  free_fields(f_old, f_new, sum);
  return exit_code;
}
