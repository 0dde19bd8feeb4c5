// libraries: the sum of squares of all elements. One kernel squares and sums, and a block adds
// once to the result.
//
//   make check CLINIC=libraries WHICH=solution

#include <lab/clinic.h>

#include <cub/cub.cuh>

constexpr int kBlock = 256;  // threads per block
constexpr int kRest = 8;     // the remainders by 8 are squared, so that the sum fits in an int

constexpr int kPerThread = 8;

__global__ void sum_kernel(int* out, const int* in, int count) {
  using BlockReduce = cub::BlockReduce<int, kBlock>;
  __shared__ typename BlockReduce::TempStorage storage;
  const int first = blockIdx.x * kBlock * kPerThread + threadIdx.x;
  int sum = 0;
  for (int r = 0; r < kPerThread; ++r) {
    const int k = first + r * kBlock;
    if (k < count) {
      const int rest = in[k] % kRest;
      sum += rest * rest;
    }
  }
  const int block_sum = BlockReduce(storage).Sum(sum);
  if (threadIdx.x == 0) atomicAdd(out, block_sum);
}

void sum_of_squares(int* out, const int* in, int count) {
  const int per_block = kBlock * kPerThread;
  CUDA_CHECK(cudaMemsetAsync(out, 0, sizeof(int)));
  sum_kernel<<<(count + per_block - 1) / per_block, kBlock>>>(out, in, count);
  CUDA_CHECK(cudaGetLastError());
}

int main(int argc, char** argv) {
  lab::Clinic clinic(argc, argv, 4096);
  const int count = clinic.n() * clinic.n();
  const int* in = clinic.input(count);
  int* out = clinic.output(1);
  return clinic.run([=] { sum_of_squares(out, in, count); });
}
