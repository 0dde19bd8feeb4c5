// occupancy: in each group of 64 elements the order is reversed, in shared memory. A block asks for
// what it uses, so a multiprocessor holds as many threads as it can.
//
//   make check CLINIC=occupancy WHICH=solution

#include <lab/clinic.h>

constexpr int kGroup = 64;   // elements whose order is reversed
constexpr int kBlock = 256;  // threads per block, one per element

__global__ void reverse_kernel(int* __restrict__ out, const int* __restrict__ in, int count) {
  __shared__ int room[kBlock];  // one element per thread
  const int k = blockIdx.x * kBlock + threadIdx.x;
  room[threadIdx.x] = k < count ? in[k] : 0;
  __syncthreads();
  const int t = threadIdx.x;
  if (k < count) out[k] = room[t / kGroup * kGroup + kGroup - 1 - t % kGroup];
}

void reverse(int* out, const int* in, int count) {
  reverse_kernel<<<(count + kBlock - 1) / kBlock, kBlock>>>(out, in, count);
  CUDA_CHECK(cudaGetLastError());
}

int main(int argc, char** argv) {
  lab::Clinic clinic(argc, argv, 4096);
  const int count = clinic.n() * clinic.n();
  const int* in = clinic.input(count);
  int* out = clinic.output(count);
  return clinic.run([=] { reverse(out, in, count); });
}
