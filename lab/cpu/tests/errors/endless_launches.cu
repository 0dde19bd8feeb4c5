// expect: endless_launches.cu:(@launch|@wait): (kernels are still launched here$|host code still
//         runs here)

#include <csignal>
#include <thread>

#include <unistd.h>

#include <lab/cuda_check.h>

__global__ void count_kernel(int* count) { ++*count; }

int main() {
  std::thread([] {
    sleep(1);
    kill(getpid(), SIGUSR1);
  }).detach();
  int* count;
  CUDA_CHECK(cudaMalloc(&count, sizeof(int)));
  for (;;) {
    count_kernel<<<1, 1>>>(count);        // @launch
    CUDA_CHECK(cudaDeviceSynchronize());  // @wait
  }
}
