// roofline_corners: each element goes through 256 steps, each of which needs the result of the one
// before. There is a warp for each multiprocessor of an H200, and it waits after every step.
//
//   make check CLINIC=roofline_corners

#include <lab/clinic.h>

constexpr int kSteps = 256;
constexpr int kBlock = 32;    // threads per block
constexpr int kBlocks = 132;  // as many as an H200 has multiprocessors

__global__ void advance_kernel(int* __restrict__ out, const int* __restrict__ in, int count) {
  // TODO(roofline_corners) A step takes some cycles. Who works in the meantime?
  const int threads = gridDim.x * kBlock;
  for (int k = blockIdx.x * kBlock + threadIdx.x; k < count; k += threads) {
    int value = in[k];
    for (int s = 0; s < kSteps; ++s) value = (value * 613 + 1) & 1023;
    out[k] = value;
  }
}

void advance(int* out, const int* in, int count) {
  advance_kernel<<<kBlocks, kBlock>>>(out, in, count);
  CUDA_CHECK(cudaGetLastError());
}

int main(int argc, char** argv) {
  lab::Clinic clinic(argc, argv, 2048);
  const int count = clinic.n() * clinic.n();
  const int* in = clinic.input(count);
  int* out = clinic.output(count);
  return clinic.run([=] { advance(out, in, count); });
}
