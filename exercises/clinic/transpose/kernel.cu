// transpose: the transposition of a square matrix. It is correct, and its stores are scattered.
//
//   make check CLINIC=transpose

#include <lab/clinic.h>

constexpr int kTile = 32;  // a block transposes kTile x kTile elements

__global__ void transpose_kernel(int* __restrict__ out, const int* __restrict__ in, int n) {
  const int i = blockIdx.x * kTile + threadIdx.x;
  const int j = blockIdx.y * kTile + threadIdx.y;
  // TODO(transpose) Let neighbours in threadIdx.x also store to neighbours in memory.
  if (i < n && j < n) out[i * n + j] = in[j * n + i];
}

void transpose(int* out, const int* in, int n) {
  const dim3 block(kTile, kTile);
  const dim3 grid((n + kTile - 1) / kTile, (n + kTile - 1) / kTile);
  transpose_kernel<<<grid, block>>>(out, in, n);
  CUDA_CHECK(cudaGetLastError());
}

int main(int argc, char** argv) {
  lab::Clinic clinic(argc, argv, 4096);
  const int n = clinic.n();
  const int* in = clinic.input(std::size_t(n) * n);
  int* out = clinic.output(std::size_t(n) * n);
  return clinic.run([=] { transpose(out, in, n); });
}
