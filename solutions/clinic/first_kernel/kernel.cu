// first_kernel: fill a 2-D array, one thread per element.
//
//   make check CLINIC=first_kernel WHICH=solution

#include <lab/clinic.h>

// Element (i, j) of n x n gets 1000 j + i. A row occupies `pitch` elements, a multiple of 32, so
// that every row begins at a multiple of 128 bytes. The padding at the end of a row is not written.
__global__ void fill_kernel(int* out, int n, int pitch) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < n && j < n) out[j * pitch + i] = 1000 * j + i;
}

void fill(int* out, int n, int pitch) {
  const dim3 block(32, 8);
  const dim3 grid((n + block.x - 1) / block.x, (n + block.y - 1) / block.y);
  fill_kernel<<<grid, block>>>(out, n, pitch);
  CUDA_CHECK(cudaGetLastError());
}

int main(int argc, char** argv) {
  lab::Clinic clinic(argc, argv, 2048);
  const int n = clinic.n(), pitch = (n + 31) / 32 * 32;
  int* out = clinic.output(std::size_t(n) * pitch);
  return clinic.run([=] { fill(out, n, pitch); });
}
