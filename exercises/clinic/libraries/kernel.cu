// libraries: the sum of squares of all elements. Two kernels, an array between them, and one atomic
// addition per element.
//
//   make check CLINIC=libraries

#include <lab/clinic.h>

#include <cub/cub.cuh>

constexpr int kBlock = 256;  // threads per block
constexpr int kRest = 8;     // the remainders by 8 are squared, so that the sum fits in an int

__global__ void square_kernel(int* squares, const int* in, int count) {
  const int k = blockIdx.x * kBlock + threadIdx.x;
  if (k < count) squares[k] = (in[k] % kRest) * (in[k] % kRest);
}

__global__ void sum_kernel(int* out, const int* squares, int count) {
  const int k = blockIdx.x * kBlock + threadIdx.x;
  // TODO(libraries) cub::BlockReduce<int, kBlock> sums a block. Does it need an array of squares?
  if (k < count) atomicAdd(out, squares[k]);
}

void sum_of_squares(int* out, int* squares, const int* in, int count) {
  const int blocks = (count + kBlock - 1) / kBlock;
  CUDA_CHECK(cudaMemsetAsync(out, 0, sizeof(int)));
  square_kernel<<<blocks, kBlock>>>(squares, in, count);
  sum_kernel<<<blocks, kBlock>>>(out, squares, count);
  CUDA_CHECK(cudaGetLastError());
}

int main(int argc, char** argv) {
  lab::Clinic clinic(argc, argv, 4096);
  const int count = clinic.n() * clinic.n();
  const int* in = clinic.input(count);
  int* squares = clinic.scratch(count);
  int* out = clinic.output(1);
  return clinic.run([=] { sum_of_squares(out, squares, in, count); });
}
