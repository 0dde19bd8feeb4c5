// transpose: the transposition of a square matrix through a tile in shared memory.
//
//   make check CLINIC=transpose WHICH=solution

#include <lab/clinic.h>

constexpr int kTile = 32;  // a block transposes kTile x kTile elements

__global__ void transpose_kernel(int* __restrict__ out, const int* __restrict__ in, int n) {
  // The additional column moves each row of the tile by one bank, so a column has 32 banks.
  __shared__ int tile[kTile][kTile + 1];
  const int i = blockIdx.x * kTile + threadIdx.x;
  const int j = blockIdx.y * kTile + threadIdx.y;
  if (i < n && j < n) tile[threadIdx.y][threadIdx.x] = in[j * n + i];
  __syncthreads();
  // The block's tile of the result: the other way round.
  const int i_out = blockIdx.y * kTile + threadIdx.x;
  const int j_out = blockIdx.x * kTile + threadIdx.y;
  if (i_out < n && j_out < n) out[j_out * n + i_out] = tile[threadIdx.x][threadIdx.y];
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
