// divergence: even elements go through a table in one way, odd elements in another way. A
// warp has elements of one kind.
//
//   make check CLINIC=divergence WHICH=solution

#include <lab/clinic.h>

constexpr int kRounds = 16;
constexpr int kBlock = 256;  // threads per block

__device__ int forward(const int* table, int value) {
  for (int r = 0; r < kRounds; ++r) value = table[value];
  return value;
}

__device__ int backward(const int* table, int value) {
  for (int r = 0; r < kRounds; ++r) value = table[lab::kClinicValues - 1 - value];
  return value;
}

__global__ void look_up_kernel(int* out, const int* in, const int* table, int count) {
  // The first threads have the even elements, the others the odd ones.
  const int thread = blockIdx.x * kBlock + threadIdx.x;
  const int even = (count + 1) / 2;
  if (thread >= count) return;
  if (thread < even) {
    const int k = 2 * thread;
    out[k] = forward(table, in[k]);
  } else {
    const int k = 2 * (thread - even) + 1;
    out[k] = backward(table, in[k]);
  }
}

void look_up(int* out, const int* in, const int* table, int count) {
  look_up_kernel<<<(count + kBlock - 1) / kBlock, kBlock>>>(out, in, table, count);
  CUDA_CHECK(cudaGetLastError());
}

int main(int argc, char** argv) {
  lab::Clinic clinic(argc, argv, 4096);
  const int count = clinic.n() * clinic.n();
  const int* in = clinic.input(count);
  const int* table = clinic.input(lab::kClinicValues);
  int* out = clinic.output(count);
  return clinic.run([=] { look_up(out, in, table, count); });
}
