// divergence: even elements go through a table in one way, odd elements in another way. Half of a
// warp's lanes wait for the other half.
//
//   make check CLINIC=divergence

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
  // TODO(divergence) Give a warp elements that all go the same way, or make the two ways one.
  const int k = blockIdx.x * kBlock + threadIdx.x;
  if (k >= count) return;
  if (k % 2 == 0) {
    out[k] = forward(table, in[k]);
  } else {
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
