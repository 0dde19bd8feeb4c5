// variant: watched
// expect: endless_kernel.cu:(@head|@body): still runs here, for [1-9] s \(kernel launched at line
//         @launch, block \(1,0,0\), thread \(2,0,0\)\)$

#include <csignal>
#include <thread>

#include <unistd.h>

#include <lab/cuda_check.h>

// Thread 34 never gets there.
__global__ void count_down_kernel(int* left, int from) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const int step = thread == 34 ? 0 : 1;
  for (int k = from; k > 0; k -= step) {  // @head
    left[thread] = k;                     // @body
  }
}

int main() {
  // Whoever waits for a program asks it where it is.
  std::thread([] {
    sleep(3);
    kill(getpid(), SIGUSR1);
  }).detach();
  int* left;
  CUDA_CHECK(cudaMalloc(&left, 64 * sizeof(int)));
  count_down_kernel<<<2, 32>>>(left, 8);  // @launch
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaFree(left));
  return 0;
}
