// first_kernel: fill a 2-D array. One thread does all the work: let each thread do a part of it.
//
//   make check CLINIC=first_kernel

#include <lab/clinic.h>

// Element (i, j) of n x n gets 1000 j + i. A row occupies `pitch` elements, a multiple of 32, so
// that every row begins at a multiple of 128 bytes. The padding at the end of a row is not written.
__global__ void fill_kernel(int* out, int n, int pitch) {
  // TODO(first_kernel) Which element is this thread's, and is there one at all?
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      out[j * pitch + i] = 1000 * j + i;
    }
  }
}

void fill(int* out, int n, int pitch) {
  // TODO(first_kernel) Blocks of several warps, and as many blocks as n x n elements need.
  fill_kernel<<<1, 1>>>(out, n, pitch);
  CUDA_CHECK(cudaGetLastError());
}

int main(int argc, char** argv) {
  lab::Clinic clinic(argc, argv, 2048);
  const int n = clinic.n(), pitch = (n + 31) / 32 * 32;
  int* out = clinic.output(std::size_t(n) * pitch);
  return clinic.run([=] { fill(out, n, pitch); });
}
