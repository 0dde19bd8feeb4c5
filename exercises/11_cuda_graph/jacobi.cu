// 11_cuda_graph: a GPU that seldom waits for the host
//
// Start: the code of step 10.
// Task:  compute the residual every kCheckEvery sweeps, read it one pass late, and launch the
//        sweeps of a pass, from one residual to the next, as one graph.
//
//   make check STEP=11
//   Ask the profiler: how long does the GPU wait between two sweeps of a small grid?

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

// TODO(11): stage 1. n = 512, where launches and waits cost more than the sweeps; kCheckEvery = 10,
//   which goes to lab::parse_options as the default of --check-every: {kDefaultN, kCheckEvery}.
constexpr int kDefaultN = 8192;  // points per side, unless --n says otherwise
constexpr int kBlockX = 32;      // points per block along i, and threads: one warp
constexpr int kBlockY = 32;      // points per block along j
constexpr int kThreadsY = 4;     // threads per block along j in the sweep, for kBlockY points

constexpr int kTileX = kBlockX + 2;  // a block's points and a halo one point wide around them
constexpr int kTileY = kBlockY + 2;

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

// A block updates kBlockX x kBlockY points: its thread (x, y) has those of column x in the rows y,
// y + kThreadsY, y + 2 kThreadsY ...
// TODO(11): (stage 1) most sweeps need no sum. Make the kernel a template of a bool kCheck, and let
//   it return before the reduction if that is false.
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

  // All threads of the block take part. Those without a point bring zero.
  using BlockReduce =
      cub::BlockReduce<double, kBlockX, cub::BLOCK_REDUCE_WARP_REDUCTIONS, kThreadsY>;
  __shared__ typename BlockReduce::TempStorage reduce_storage;
  const double block_sum = BlockReduce(reduce_storage).Sum(thread_sum);
  // Only the first thread has the result.
  if (threadIdx.x == 0 && threadIdx.y == 0) atomicAdd(sum, block_sum);
}

// TODO(11): (stage 1) jacobi_sweeps takes the place of jacobi_sweep. It launches a number of
//   sweeps, swaps the fields after each, and then waits and returns the sum. Only the last sweep
//   adds to the sum. (Stage 2) It queues all of that in a stream, and calls nothing that waits for
//   the GPU.
// TODO(11): (stages 2 and 3) a struct Pass with an event, a double in pinned memory, and a graph. A
//   function creates all three, and another one waits for the event. A pass has the sweeps from one
//   residual to the next. (At the end of main they are freed.)
// One sweep over the interior. Returns the sum of the squared changes. It is a double, because a
// float sum of n^2 terms can be off by more than the contribution of a whole row.
double jacobi_sweep(float* f_new, const float* f_old, double* sum, int n) {
  nvtxRangePush("jacobi_sweep");
  CUDA_CHECK(cudaMemset(sum, 0, sizeof(double)));
  const dim3 block(kBlockX, kThreadsY);
  const dim3 grid((n + kBlockX - 1) / kBlockX, (n + kBlockY - 1) / kBlockY);
  jacobi_sweep_kernel<<<grid, block>>>(f_new, f_old, sum, n);
  CUDA_CHECK(cudaGetLastError());       // was the launch accepted?
  CUDA_CHECK(cudaDeviceSynchronize());  // did the kernel run to its end?
  double host_sum;
  CUDA_CHECK(cudaMemcpy(&host_sum, sum, sizeof(double), cudaMemcpyDeviceToHost));
  nvtxRangePop();
  return host_sum;
}

int main(int argc, char** argv) {
  const lab::Options options = lab::parse_options(argc, argv, {kDefaultN});
  const lab::Problem problem(options);
  const int n = options.n;

  float *f_old, *f_new;
  double* sum;
  allocate_fields(&f_old, &f_new, &sum, n);
  initialize_field(f_old, problem.initial_old(), n);
  initialize_field(f_new, problem.initial_new(), n);

  // TODO(11): (stage 2) a stream, and two passes that take turns. (Stage 3) An odd number of sweeps
  //   leaves the fields with their roles changed: which pointers does the second graph need?
  lab::Run run(options, problem);
  int iteration = 0;
  double residual = std::numeric_limits<double>::infinity();
  while (residual > options.tolerance && iteration < options.max_iterations) {
    // TODO(11): (stage 1) jacobi_sweeps up to the next residual, and record it. It swaps: the swap
    //   below goes. (Stage 2) Queue one pass, record its event, and only then wait for the previous
    //   pass and record its residual. After the loop, wait for the last pass. (Stage 3) Launch the
    //   pass's graph. That swaps no pointers: after an odd number of sweeps main must. At the end
    //   fewer sweeps than a pass may be left: queue those without a graph.
    const double squares = jacobi_sweep(f_new, f_old, sum, n);
    residual = std::sqrt(squares / (double(n) * n));
    std::swap(f_old, f_new);  // the new field is the old one of the next sweep
    run.record(++iteration, residual);
  }

  // If the result is wanted, some whole rows of it at a time are copied to the host.
  const int exit_code = run.finish([=](float* to, int j, int rows) {
    const std::size_t bytes = std::size_t(rows) * n * sizeof(float);
    CUDA_CHECK(cudaMemcpy(to, f_old + idx(0, j, n), bytes, cudaMemcpyDeviceToHost));
  });
  free_fields(f_old, f_new, sum);
  return exit_code;
}
