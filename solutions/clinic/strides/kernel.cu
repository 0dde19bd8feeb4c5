// strides: scale an array. In every round the threads of a block have neighbouring elements.
//
//   make check CLINIC=strides WHICH=solution

#include <lab/clinic.h>

constexpr int kPerThread = 32;  // elements per thread
constexpr int kBlock = 128;     // threads per block

__global__ void scale_kernel(int* __restrict__ out, const int* __restrict__ in, int count) {
  const int first = blockIdx.x * kBlock * kPerThread + threadIdx.x;
  for (int r = 0; r < kPerThread; ++r) {
    const int k = first + r * kBlock;
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
