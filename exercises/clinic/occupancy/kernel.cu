// occupancy: in each group of 64 elements the order is reversed, in shared memory. A block asks for
// more of it than it uses, so few blocks fit on a multiprocessor.
//
//   make check CLINIC=occupancy

#include <lab/clinic.h>

constexpr int kGroup = 64;    // elements whose order is reversed
constexpr int kBlock = 64;    // threads per block, one per element
constexpr int kRoom = 12288;  // elements in shared memory per block: the maximum of 48 kB

__global__ void reverse_kernel(int* __restrict__ out, const int* __restrict__ in, int count) {
  // TODO(occupancy) How many of these blocks fit on a multiprocessor? How many warps are that?
  __shared__ int room[kRoom];
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
