// local_memory: how often does the most frequent of 8 classes occur? Each thread counts in an array
// of its own, with an index that depends on the data.
//
//   make check CLINIC=local_memory

#include <lab/clinic.h>

constexpr int kClasses = 8;
constexpr int kValues = 16;  // per thread
constexpr int kBlock = 256;  // threads per block

// `in` holds kValues arrays of `count` values, one after the other. A value's class is its
// remainder.
__global__ void most_frequent_kernel(int* __restrict__ out, const int* __restrict__ in, int count) {
  const int k = blockIdx.x * kBlock + threadIdx.x;
  if (k >= count) return;
  int bins[kClasses] = {};
  for (int v = 0; v < kValues; ++v) {
    // TODO(local_memory) Registers have no addresses: use an index that the compiler knows.
    ++bins[in[v * std::size_t(count) + k] % kClasses];
  }
  int most = 0;
  for (int c = 0; c < kClasses; ++c) most = max(most, bins[c]);
  out[k] = most;
}

void most_frequent(int* out, const int* in, int count) {
  most_frequent_kernel<<<(count + kBlock - 1) / kBlock, kBlock>>>(out, in, count);
  CUDA_CHECK(cudaGetLastError());
}

int main(int argc, char** argv) {
  lab::Clinic clinic(argc, argv, 2048);
  const int count = clinic.n() * clinic.n();
  const int* in = clinic.input(std::size_t(kValues) * count);
  int* out = clinic.output(count);
  return clinic.run([=] { most_frequent(out, in, count); });
}
