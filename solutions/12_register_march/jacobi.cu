// 12_register_march: a row is read once, and stays in registers
//
// Changed: no tile and no barrier. A warp marches up a strip of the grid. It keeps the rows that it
// needs next in registers, and the rows after them are in flight. Loads and stores are 16 bytes
// wide, because rows are padded to begin at a multiple of 128 bytes. The grid is large now, and a
// launch takes far less time than a sweep: the graph is gone.
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

constexpr int kDefaultN = 16384;  // points per side, unless --n says otherwise
constexpr int kCheckEvery = 10;   // sweeps from one residual to the next (--check-every)
constexpr int kLanes = 32;        // threads of a warp

// What scripts/publish/experiments.py found best on an H200.
constexpr int kWarps = 4;  // warps per block, side by side
constexpr int kRows = 8;   // rows that a warp marches through
constexpr int kAhead = 3;  // rows in flight from memory, while one is swept

// Where point (i, j) stands in memory. i is x and j is y; both run from 0 to n - 1. A row is padded
// to a multiple of 32 floats, its pitch: the padding has no part in the result.
__host__ __device__ inline std::size_t idx(int i, int j, int n) {
  return std::size_t(j) * ((n + 31) / 32 * 32) + i;
}
__host__ __device__ inline int pitch_of(int n) { return int(idx(0, 1, n)); }

// Two fields of n rows: a sweep reads the old one and writes the new one. They are in the GPU's
// memory, as is the sum of the squared changes: the CPU cannot touch them, nothing migrates.
void allocate_fields(float** f_old, float** f_new, double** sum, int n) {
  nvtxRangePush("allocate_fields");
  lab::require_gpu_memory(n, 2 * sizeof(float));
  const std::size_t bytes = idx(0, n, n) * sizeof(float);
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
  const int j = blockIdx.x;  // a block fills one row, padding included
  for (int i = threadIdx.x; i < pitch_of(n); i += blockDim.x) {
    f[idx(i, j, n)] = i < n ? start(i, j) : 0.0f;
  }
}

// Gives every point its starting value; no sweep changes those on the boundary.
void initialize_field(float* f, const lab::StartingField& start, int n) {
  nvtxRangePush("initialize_field");
  const lab::StartOnGpu on_gpu(start);  // the boundary's values, copied for the kernel
  initialize_field_kernel<<<n, kLanes * kWarps>>>(f, on_gpu.value(), n);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  nvtxRangePop();
}

// What a lane holds of a row: four points side by side. Where the strip ends one neighbour is
// another warp's: lane 0 holds the point west of the strip too, and lane 31 the one east of it.
//
//              lane 0    lane 1         lane 31
//   ahead      o o o o | o o o o | ... | o o o o      in flight: no lane waits for them yet
//   north      n n n n | n n n n | ... | n n n n
//   centre   b c c c c | c c c c | ... | c c c c b    the row that is swept; b: beyond
//   south      s s s s | s s s s | ... | s s s s
struct Row {
  float4 four;
  float beyond;
};

// Loads a lane's part of row j, from column i on. Lanes past the row's end load its padding again.
__device__ inline Row load_row(const float* __restrict__ f, int i, int j, int n) {
  const float* row = f + idx(0, j, n);
  const int last = pitch_of(n) - 1;
  Row loaded;
  loaded.four = *reinterpret_cast<const float4*>(row + min(i, last - 3));
  loaded.beyond = 0.0f;
  const int beyond = threadIdx.x == 0 ? max(i - 1, 0) : min(i + 4, last);
  if (threadIdx.x == 0 || threadIdx.x == kLanes - 1) loaded.beyond = row[beyond];
  return loaded;
}

// The new values of a lane's points in the row between south and north.
__device__ inline float4 sweep_row(const Row& south, const Row& centre, const Row& north, int i,
                                   int n) {
  const float4 s = south.four, c = centre.four, t = north.four;
  float west = __shfl_up_sync(~0u, c.w, 1);    // the last point of the lane before
  float east = __shfl_down_sync(~0u, c.x, 1);  // the first one of the next lane
  if (threadIdx.x == 0) west = centre.beyond;
  if (threadIdx.x == kLanes - 1) east = centre.beyond;
  float4 value;
  value.x = 0.25f * ((c.y + t.x) + (west + s.x));
  value.y = 0.25f * ((c.z + t.y) + (c.x + s.y));
  value.z = 0.25f * ((c.w + t.z) + (c.y + s.z));
  value.w = 0.25f * ((east + t.w) + (c.z + s.w));
  // The boundary keeps its values, and so does the padding.
  if (i == 0) value.x = c.x;
  if (i >= n - 1) value.x = c.x;
  if (i + 1 >= n - 1) value.y = c.y;
  if (i + 2 >= n - 1) value.z = c.z;
  if (i + 3 >= n - 1) value.w = c.w;
  return value;
}

// A block has kWarps strips of 128 columns side by side; each warp marches up kRows rows of its
// strip.
__global__ void __launch_bounds__(kLanes* kWarps)
    jacobi_sweep_kernel(float* __restrict__ f_new, const float* __restrict__ f_old, double* sum,
                        int n) {
  const int strip_begin = (blockIdx.x * kWarps + threadIdx.y) * 4 * kLanes;
  const int i = strip_begin + 4 * threadIdx.x;  // the first of the lane's four columns
  const int j_begin = max(int(blockIdx.y) * kRows, 1);
  const int j_end = min(int(blockIdx.y + 1) * kRows, n - 1);
  double thread_sum = 0.0;
  if (strip_begin < n && j_begin < j_end) {  // all lanes of the warp, or none: they exchange values
    Row south = load_row(f_old, i, j_begin - 1, n), centre = load_row(f_old, i, j_begin, n);
    Row ahead[kAhead];
#pragma unroll
    for (int a = 0; a < kAhead; ++a) ahead[a] = load_row(f_old, i, min(j_begin + 1 + a, n - 1), n);
    for (int j = j_begin; j < j_end; j += kAhead) {
#pragma unroll  // so that each row in flight stays in its registers: to copy it is to wait for it
      for (int a = 0; a < kAhead && j + a < j_end; ++a) {
        const Row north = ahead[a];
        if (j + a + kAhead < j_end) ahead[a] = load_row(f_old, i, j + a + kAhead + 1, n);
        const float4 value = sweep_row(south, centre, north, i, n), old = centre.four;
        const double dx = value.x - old.x, dy = value.y - old.y, dz = value.z - old.z;
        const double dw = value.w - old.w;
        thread_sum += (dx * dx + dy * dy) + (dz * dz + dw * dw);
        // A streaming store: no cache need keep what this sweep does not read.
        if (i < pitch_of(n)) __stcs(reinterpret_cast<float4*>(f_new + idx(i, j + a, n)), value);
        south = centre;
        centre = north;
      }
    }
  }

  // All threads of the block take part. Those without a point bring zero.
  using BlockReduce = cub::BlockReduce<double, kLanes, cub::BLOCK_REDUCE_WARP_REDUCTIONS, kWarps>;
  __shared__ typename BlockReduce::TempStorage reduce_storage;
  const double block_sum = BlockReduce(reduce_storage).Sum(thread_sum);
  // Only the first thread has the result.
  if (threadIdx.x == 0 && threadIdx.y == 0) atomicAdd(sum, block_sum);
}

// Performs sweeps over the interior, the fields changing roles after each. Returns the sum of the
// last one's squared changes; in double, as n^2 of them in float would lose too many digits.
double jacobi_sweeps(float** f_old, float** f_new, double* sum, int sweeps, int n) {
  nvtxRangePush("jacobi_sweeps");
  const dim3 block(kLanes, kWarps);
  const int columns = 4 * kLanes * kWarps;
  const dim3 grid((n + columns - 1) / columns, (n - 1 + kRows - 1) / kRows);
  for (int k = 1; k <= sweeps; ++k) {
    CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(double)));
    jacobi_sweep_kernel<<<grid, block>>>(*f_new, *f_old, sum, n);
    CUDA_CHECK(cudaGetLastError());  // was the launch accepted?
    std::swap(*f_old, *f_new);       // the new field is the old one of the next sweep
  }
  double host_sum;
  CUDA_CHECK(cudaMemcpy(&host_sum, sum, sizeof(double), cudaMemcpyDeviceToHost));  // and waits
  nvtxRangePop();
  return host_sum;
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

  lab::Run run(options, problem);
  int iteration = 0;
  double residual = std::numeric_limits<double>::infinity();
  while (residual > options.tolerance && iteration < options.max_iterations) {
    const int sweeps = std::min(options.check_every, options.max_iterations - iteration);
    const double squares = jacobi_sweeps(&f_old, &f_new, sum, sweeps, n);
    residual = std::sqrt(squares / (double(n) * n));
    iteration += sweeps;
    run.record(iteration, residual);
  }

  // If the result is wanted, some rows of it at a time are copied to the host, without
  // their padding: `width` bytes of each pitch.
  const int exit_code = run.finish([=](float* to, int j, int rows) {
    const std::size_t width = n * sizeof(float), pitch = pitch_of(n) * sizeof(float);
    CUDA_CHECK(
        cudaMemcpy2D(to, width, f_old + idx(0, j, n), pitch, width, rows, cudaMemcpyDeviceToHost));
  });
  free_fields(f_old, f_new, sum);
  return exit_code;
}
