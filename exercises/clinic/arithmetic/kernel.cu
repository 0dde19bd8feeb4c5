// arithmetic: each element gets twice the sum of (i + 3 j) / 2 over 64 elements, itself the first.
// All of it could be cheap, and none of it is.
//
//   make check CLINIC=arithmetic

#include <lab/clinic.h>

constexpr int kRounds = 64;
constexpr int kBlock = 256;  // threads per block

// Element k is point (i, j) = (k % n, k / n). Halves and their sums are exact in floats.
__global__ void weigh_kernel(int* out, int n, int count) {
  const int k = blockIdx.x * kBlock + threadIdx.x;
  if (k >= count) return;
  float total = 0;
  for (int r = 0; r < kRounds; ++r) {
    // TODO(arithmetic) Two operations here cost far more than the others. Is either needed?
    const int i = (k + r) % n, j = (k + r) / n;
    total += 0.5 * i + 1.5 * j;
  }
  out[k] = int(2 * total);
}

void weigh(int* out, int n) {
  const int count = n * n;
  weigh_kernel<<<(count + kBlock - 1) / kBlock, kBlock>>>(out, n, count);
  CUDA_CHECK(cudaGetLastError());
}

int main(int argc, char** argv) {
  lab::Clinic clinic(argc, argv, 2048);
  const int n = clinic.n();
  int* out = clinic.output(n * n);
  return clinic.run([=] { weigh(out, n); });
}
