// variant: watched
// expect: endless_host.cu:(@head|@body): host code still runs here \(called at .*\)$

#include <csignal>
#include <thread>

#include <unistd.h>

#include <lab/cuda_check.h>

void balance(int* left) {
  while (*left > 0) {  // @head
    *left = 8 - *left;
    *left = 8 - *left;  // @body
  }
}

int main() {
  std::thread([] {
    sleep(1);
    kill(getpid(), SIGUSR1);
  }).detach();
  int* left;
  CUDA_CHECK(cudaMallocManaged(&left, sizeof(int)));
  *left = 8;
  balance(left);
  return 0;
}
