// arithmetic: each element gets twice the sum of (i + 3 j) / 2 over 64 elements, itself the first.
// The launch grid says where a thread begins, and steps replace divisions.
//
//   make check CLINIC=arithmetic WHICH=solution

#include <lab/clinic.h>

constexpr int kRounds = 64;
constexpr int kBlock = 256;  // threads per block

// Element k is point (i, j) = (k % n, k / n). Halves and their sums are exact in floats.
__global__ void weigh_kernel(int* out, int n) {
  int i = blockIdx.x * kBlock + threadIdx.x, j = blockIdx.y;
  if (i >= n) return;
  const int k = j * n + i;
  float total = 0;
  for (int r = 0; r < kRounds; ++r) {
    total += 0.5f * i + 1.5f * j;
    if (++i == n) {  // the next element is in the next row
      i = 0;
      ++j;
    }
  }
  out[k] = int(2 * total);
}

void weigh(int* out, int n) {
  weigh_kernel<<<dim3((n + kBlock - 1) / kBlock, n), kBlock>>>(out, n);
  CUDA_CHECK(cudaGetLastError());
}

int main(int argc, char** argv) {
  lab::Clinic clinic(argc, argv, 2048);
  const int n = clinic.n();
  int* out = clinic.output(n * n);
  return clinic.run([=] { weigh(out, n); });
}
