// redundant_access: the sum of 16 arrays, element by element. The sum grows in a register.
//
//   make check CLINIC=redundant_access WHICH=solution

#include <lab/clinic.h>

constexpr int kArrays = 16;
constexpr int kBlock = 256;  // threads per block

// `in` holds kArrays arrays of `count` elements, one after the other.
__global__ void sum_kernel(int* out, const int* in, int count) {
  const int k = blockIdx.x * kBlock + threadIdx.x;
  if (k >= count) return;
  int total = 0;
  for (int a = 0; a < kArrays; ++a) {
    total += in[a * std::size_t(count) + k];
  }
  out[k] = total;
}

void sum(int* out, const int* in, int count) {
  sum_kernel<<<(count + kBlock - 1) / kBlock, kBlock>>>(out, in, count);
  CUDA_CHECK(cudaGetLastError());
}

int main(int argc, char** argv) {
  lab::Clinic clinic(argc, argv, 2048);
  const int count = clinic.n() * clinic.n();
  const int* in = clinic.input(std::size_t(kArrays) * count);
  int* out = clinic.output(count);
  return clinic.run([=] { sum(out, in, count); });
}
