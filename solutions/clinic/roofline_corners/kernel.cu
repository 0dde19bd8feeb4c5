// roofline_corners: each element goes through 256 steps, each of which needs the result of the one
// before. Each element has a thread, so while a warp waits for a step others perform theirs.
//
//   make check CLINIC=roofline_corners WHICH=solution

#include <lab/clinic.h>

constexpr int kSteps = 256;
constexpr int kBlock = 256;  // threads per block

__global__ void advance_kernel(int* __restrict__ out, const int* __restrict__ in, int count) {
  const int k = blockIdx.x * kBlock + threadIdx.x;
  if (k >= count) return;
  int value = in[k];
  for (int s = 0; s < kSteps; ++s) value = (value * 613 + 1) & 1023;
  out[k] = value;
}

void advance(int* out, const int* in, int count) {
  advance_kernel<<<(count + kBlock - 1) / kBlock, kBlock>>>(out, in, count);
  CUDA_CHECK(cudaGetLastError());
}

int main(int argc, char** argv) {
  lab::Clinic clinic(argc, argv, 2048);
  const int count = clinic.n() * clinic.n();
  const int* in = clinic.input(count);
  int* out = clinic.output(count);
  return clinic.run([=] { advance(out, in, count); });
}
