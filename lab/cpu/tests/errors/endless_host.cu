// variant: watched
// expect: endless_host.cu:1[0-9]: host code still runs here \(called at .*\)$

#include <check.h>

#include "ask_after.h"

// volatile: a loop that does nothing may be left out.
void balance(volatile int* left) {
  while (*left > 0) {
    *left = 8 - *left;
    *left = 8 - *left;
  }
}

int main() {
  ask_after(1);
  int* left;
  CUDA_CHECK(cudaMallocManaged(&left, sizeof(int)));
  *left = 8;
  balance(left);
  return 0;
}
