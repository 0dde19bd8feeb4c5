// strides: scale an array. Each thread has elements that follow one another, as on a CPU.
//
//   make check CLINIC=strides

#include <lab/clinic.h>

constexpr int kPerThread = 32;  // elements per thread
constexpr int kBlock = 128;     // threads per block

__global__ void scale_kernel(int* __restrict__ out, const int* __restrict__ in, int count) {
  const int thread = blockIdx.x * kBlock + threadIdx.x;
  for (int r = 0; r < kPerThread; ++r) {
    // TODO(strides) Give neighbouring threads neighbouring elements, in every round r.
    const int k = thread * kPerThread + r;
    if (k < count) out[k] = 2 * in[k] + 1;
  }
}

void scale(int* out, const int* in, int count) {
  const int per_block = kBlock * kPerThread;
  scale_kernel<<<(count + per_block - 1) / per_block, kBlock>>>(out, in, count);
  CUDA_CHECK(cudaGetLastError());
}

int main(int argc, char** argv) {
  lab::Clinic clinic(argc, argv, 4096);
  const int count = clinic.n() * clinic.n();
  const int* in = clinic.input(count);
  int* out = clinic.output(count);
  return clinic.run([=] { scale(out, in, count); });
}
