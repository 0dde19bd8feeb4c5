// Allocation, copies, fills, prefetches, symbols.

#include "check.h"

#include <vector>

#include <sys/resource.h>

__global__ void add_kernel(float* x, float value, int n) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < n) x[k] += value;
}

__global__ void copy_kernel(const float* from, float* to) { to[threadIdx.x] = from[threadIdx.x]; }

__device__ float table[4] = {1, 2, 3, 4};
__constant__ float weights[3];
__device__ int counter;
__device__ __managed__ int both_sides = 5;
const std::vector<int> made_before_main(3, 7);

__global__ void symbols_kernel(float* out) {
  out[threadIdx.x] = table[threadIdx.x] * weights[threadIdx.x % 3];
  if (threadIdx.x == 0) {
    counter += 10;
    both_sides *= 2;
  }
}

constexpr int kCount = 1000;
constexpr size_t kBytes = kCount * sizeof(float);

void copies() {
  std::vector<float> host(kCount), back(kCount);
  for (int k = 0; k < kCount; ++k) host[k] = k;
  float *a, *b;
  CUDA(cudaMalloc(&a, kBytes));
  CUDA(cudaMalloc(reinterpret_cast<void**>(&b), kBytes));
  CUDA(cudaMemcpy(a, host.data(), kBytes, cudaMemcpyHostToDevice));
  add_kernel<<<8, 128>>>(a, 1, kCount);
  LAUNCHED();
  CUDA(cudaMemcpy(b, a, kBytes, cudaMemcpyDeviceToDevice));
  CUDA(cudaMemcpy(back.data(), b, kBytes, cudaMemcpyDeviceToHost));
  for (int k = 0; k < kCount; ++k) CHECK_EQUAL(back[k], k + 1);

  // The runtime finds out which side is where; and parts of arrays.
  CUDA(cudaMemcpy(b + 10, host.data() + 20, 5 * sizeof(float), cudaMemcpyDefault));
  CUDA(cudaMemcpy(back.data(), b, kBytes, cudaMemcpyDefault));
  for (int k = 0; k < 30; ++k) CHECK_EQUAL(back[k], k >= 10 && k < 15 ? k + 10 : k + 1);
  CUDA(cudaMemcpy(back.data(), host.data(), kBytes, cudaMemcpyHostToHost));
  CHECK(back == host);

  CUDA(cudaMemset(a, 0, kBytes));
  CUDA(cudaMemset(a + 1, 0x3f, 2 * sizeof(float)));
  CUDA(cudaMemcpy(back.data(), a, kBytes, cudaMemcpyDeviceToHost));
  CHECK(back[0] == 0 && back[1] > 0.7f && back[2] == back[1] && back[3] == 0);
  CUDA(cudaFree(a));
  CUDA(cudaFree(b));
}

void managed() {
  float* x;
  CUDA(cudaMallocManaged(&x, kBytes));
  // A fill of managed memory is done when the call returns.
  CUDA(cudaMemset(x, 0, kBytes));
  x[5] = 7;
  add_kernel<<<8, 128>>>(x, 2, kCount);
  FINISHED();
  for (int k = 0; k < kCount; ++k) CHECK_EQUAL(x[k], k == 5 ? 9 : 2);
  std::vector<float> back(kCount);
  CUDA(cudaMemcpy(back.data(), x, kBytes, cudaMemcpyDefault));
  CHECK_EQUAL(back[5], 9);

  int device = 0;
  CUDA(cudaGetDevice(&device));
#if CUDART_VERSION >= 13000
  const cudaMemLocation gpu{cudaMemLocationTypeDevice, device}, host{cudaMemLocationTypeHost, 0};
  CUDA(cudaMemPrefetchAsync(x, kBytes, gpu, 0));
  CUDA(cudaMemPrefetchAsync(x, kBytes / 2, host, 0, nullptr));
  CUDA(cudaMemAdvise(x, kBytes, cudaMemAdviseSetReadMostly, gpu));
  CUDA(cudaMemAdvise(x, kBytes, cudaMemAdviseUnsetReadMostly, gpu));
  CUDA(cudaMemAdvise(x, kBytes, cudaMemAdviseSetPreferredLocation, gpu));
  CUDA(cudaMemAdvise(x, kBytes, cudaMemAdviseSetAccessedBy, host));
#endif
#if CUDART_VERSION < 13000 || defined(__CUDA_ON_CPU__)
  CUDA(cudaMemPrefetchAsync(x, kBytes, device));
  CUDA(cudaMemPrefetchAsync(x, kBytes, cudaCpuDeviceId, nullptr));
  CUDA(cudaMemAdvise(x, kBytes, cudaMemAdviseSetPreferredLocation, device));
  CUDA(cudaMemAdvise(x, kBytes, cudaMemAdviseSetAccessedBy, cudaCpuDeviceId));
#endif
  add_kernel<<<8, 128>>>(x, 1, kCount);
  FINISHED();
  CHECK_EQUAL(x[5], 10);

  // What a kernel only reads, the host may read at the same time.
  Array<float> copy(kCount);
  const float* input = x;
  copy_kernel<<<1, 32>>>(input, copy.data());
  LAUNCHED();
  CHECK_EQUAL(x[5], 10);
  CUDA(cudaDeviceSynchronize());
  CHECK_EQUAL(copy[5], 10);
  CUDA(cudaFree(x));
}

void pinned() {
  float *host, *other, *device;
  CUDA(cudaMallocHost(&host, kBytes));
  CUDA(cudaHostAlloc(&other, kBytes, cudaHostAllocDefault));
  CUDA(cudaMalloc(&device, kBytes));
  cudaStream_t stream;
  CUDA(cudaStreamCreate(&stream));
  for (int k = 0; k < kCount; ++k) host[k] = k;
  CUDA(cudaMemcpyAsync(device, host, kBytes, cudaMemcpyHostToDevice, stream));
  add_kernel<<<8, 128, 0, stream>>>(device, 3, kCount);
  LAUNCHED();
  CUDA(cudaMemcpyAsync(other, device, kBytes, cudaMemcpyDeviceToHost, stream));
  CUDA(cudaMemsetAsync(device, 0, kBytes, stream));
  CUDA(cudaMemcpyAsync(host, device, kBytes, cudaMemcpyDeviceToHost, stream));
  CUDA(cudaStreamSynchronize(stream));
  for (int k = 0; k < kCount; ++k) CHECK(host[k] == 0 && other[k] == k + 3);
  // A kernel can use pinned memory itself. And a fill of it is done when the call returns.
  CUDA(cudaMemset(host, 0, kBytes));
  host[1] = 1;
  add_kernel<<<8, 128>>>(host, 0.5f, kCount);
  FINISHED();
  CHECK(host[0] == 0.5f && host[1] == 1.5f);
  CUDA(cudaStreamDestroy(stream));
  CUDA(cudaFreeHost(host));
  CUDA(cudaFreeHost(other));
  CUDA(cudaFree(device));
}

// What an asynchronous copy reads from ordinary host memory may change, or be gone, when the call
// has returned.
void ordinary_host_memory() {
  float* x;
  CUDA(cudaMalloc(&x, sizeof(float)));
  cudaStream_t stream;
  CUDA(cudaStreamCreate(&stream));
  for (float value = 1; value < 4; ++value) {
    float source = value;
    CUDA(cudaMemcpyAsync(x, &source, sizeof source, cudaMemcpyHostToDevice, stream));
    source = -1;
    add_kernel<<<1, 1, 0, stream>>>(x, 10, 1);
    LAUNCHED();
    float sum = 0;
    CUDA(cudaMemcpyAsync(&sum, x, sizeof sum, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamSynchronize(stream));
    CHECK_EQUAL(sum, value + 10);
  }
  CUDA(cudaStreamDestroy(stream));
  CUDA(cudaFree(x));
}

void in_stream_order() {
  cudaStream_t stream;
  CUDA(cudaStreamCreate(&stream));
  float* x;
  CUDA(cudaMalloc(&x, kBytes));
  CUDA(cudaMemsetAsync(x, 0, kBytes, stream));
  add_kernel<<<8, 128, 0, stream>>>(x, 4, kCount);
  LAUNCHED();
  std::vector<float> back(kCount);
  CUDA(cudaMemcpyAsync(back.data(), x, kBytes, cudaMemcpyDeviceToHost, stream));
  CUDA(cudaStreamSynchronize(stream));
  CUDA(cudaFree(x));
  for (int k = 0; k < kCount; ++k) CHECK_EQUAL(back[k], 4);
  CUDA(cudaStreamDestroy(stream));
}

void symbols() {
  const float new_weights[3] = {1, 10, 100};
  CUDA(cudaMemcpyToSymbol(weights, new_weights, sizeof new_weights));
  const float two = 20;
  CUDA(cudaMemcpyToSymbol(table, &two, sizeof two, sizeof(float)));
  const int start = 3;
  CUDA(cudaMemcpyToSymbol(counter, &start, sizeof start, 0, cudaMemcpyHostToDevice));
  Array<float> out(4);
  symbols_kernel<<<1, 4>>>(out.data());
  FINISHED();
  const float expected[] = {1, 200, 300, 4};
  for (int k = 0; k < 4; ++k) CHECK_EQUAL(out[k], expected[k]);
  int count = 0;
  CUDA(cudaMemcpyFromSymbol(&count, counter, sizeof count));
  CHECK_EQUAL(count, 13);
  CHECK_EQUAL(both_sides, 10);
}

void rows_with_a_pitch() {
  int *device, back[4] = {-1, -1, -1, -1};
  const int rows[] = {1, 2, 99, 3, 4, 99};  // two rows of two, a third place in each
  CUDA(cudaMalloc(&device, sizeof rows));
  CUDA(cudaMemcpy(device, rows, sizeof rows, cudaMemcpyHostToDevice));
  CUDA(cudaMemcpy2D(back, 8, device, 12, 8, 2, cudaMemcpyDeviceToHost));
  for (int k = 0; k < 4; ++k) CHECK_EQUAL(back[k], k + 1);
  cudaStream_t stream;
  CUDA(cudaStreamCreate(&stream));
  CUDA(cudaMemcpy2DAsync(back, 4, device + 1, 12, 4, 2, cudaMemcpyDeviceToHost, stream));
  CHECK_EQUAL(back[0], 2);  // it is done: ordinary host memory
  CHECK_EQUAL(back[1], 4);
  CUDA(cudaStreamDestroy(stream));
  CHECK_EQUAL(cudaMemcpy2D(back, 8, device, 4, 8, 2, cudaMemcpyDeviceToHost),
              cudaErrorInvalidPitchValue);
  CHECK_EQUAL(cudaGetLastError(), cudaErrorInvalidPitchValue);
  CUDA(cudaFree(device));
}

void amounts() {
  size_t free_bytes = 0, total_bytes = 0;
  CUDA(cudaMemGetInfo(&free_bytes, &total_bytes));
  CHECK(free_bytes > 0 && free_bytes <= total_bytes);
#ifdef __CUDA_ON_CPU__
  // What the system says is available, and no more than the shell's limit (ulimit -v) leaves.
  const size_t gibibyte = size_t{1} << 30;
  rlimit before;
  CHECK(getrlimit(RLIMIT_AS, &before) == 0);
  rlimit limit{gibibyte, before.rlim_max};
  CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
  CUDA(cudaMemGetInfo(&free_bytes, &total_bytes));
  CHECK(free_bytes < gibibyte);
  CHECK(setrlimit(RLIMIT_AS, &before) == 0);
#endif
  void* p = &free_bytes;
  CUDA(cudaMalloc(&p, 0));
  CHECK(p == nullptr);
  CUDA(cudaFree(nullptr));
  CUDA(cudaFreeHost(nullptr));
  CUDA(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice));
  for (const size_t bytes : {1, 15, 4096, 4097, 100000}) {
    char* x;
    CUDA(cudaMalloc(&x, bytes));
    CHECK_EQUAL(reinterpret_cast<size_t>(x) % 16, 0);
    CUDA(cudaMemset(x, 9, bytes));
    char last = 0;
    CUDA(cudaMemcpy(&last, x + bytes - 1, 1, cudaMemcpyDeviceToHost));
    CHECK_EQUAL(last, 9);
    CUDA(cudaFree(x));
  }
}

// A copy that is queued closes its own bytes to the host, and not others of the same page.
void beside_a_queued_copy() {
  double *x, *places;
  cudaStream_t stream;
  CUDA(cudaStreamCreate(&stream));
  CUDA(cudaMalloc(&x, sizeof(double)));
  CUDA(cudaMemset(x, 0, sizeof(double)));
  CUDA(cudaMallocHost(&places, 2 * sizeof(double)));
  places[1] = 5;
  CUDA(cudaMemcpyAsync(places, x, sizeof(double), cudaMemcpyDeviceToHost, stream));
  CHECK_EQUAL(places[1], 5);
  places[1] = 6;
  // What is only read, the host may read too.
  CUDA(cudaMemcpyAsync(x, places + 1, sizeof(double), cudaMemcpyHostToDevice, stream));
  CHECK_EQUAL(places[1], 6);
  CUDA(cudaStreamSynchronize(stream));
  CHECK_EQUAL(places[0], 0);
  CUDA(cudaFree(x));
  CUDA(cudaFreeHost(places));
  CUDA(cudaStreamDestroy(stream));
}

__global__ void rows_kernel(float* x, std::size_t pitch, int width) {
  float* row = reinterpret_cast<float*>(reinterpret_cast<char*>(x) + threadIdx.y * pitch);
  if (static_cast<int>(threadIdx.x) < width) row[threadIdx.x] = 100.0f * threadIdx.y + threadIdx.x;
}

void pitched_memory() {
  constexpr int kWidth = 30, kHeight = 5;
  float* x = nullptr;
  std::size_t pitch = 0;
  CUDA(cudaMallocPitch(&x, &pitch, kWidth * sizeof(float), kHeight));
  CHECK(pitch >= kWidth * sizeof(float) && pitch % 512 == 0);
  rows_kernel<<<1, dim3(32, kHeight)>>>(x, pitch, kWidth);
  FINISHED();
  float back[kHeight][kWidth];
  CUDA(cudaMemcpy2D(back, sizeof back[0], x, pitch, sizeof back[0], kHeight,
                    cudaMemcpyDeviceToHost));
  for (int j = 0; j < kHeight; ++j) {
    for (int i = 0; i < kWidth; ++i) CHECK_EQUAL(back[j][i], 100.0f * j + i);
  }
  CUDA(cudaFree(x));
}

int main() {
  CHECK_EQUAL(made_before_main[2], 7);
  copies();
  managed();
  pinned();
  beside_a_queued_copy();
  ordinary_host_memory();
  in_stream_order();
  symbols();
  rows_with_a_pitch();
  pitched_memory();
  amounts();
  return result();
}
