// expect: CUDA on the CPU does not cover shared memory outside a kernel.s text
// variant: compile

#include <check.h>

#define ONE_FOR_THE_BLOCK(name) __shared__ float name

__global__ void nothing_kernel() { ONE_FOR_THE_BLOCK(sum); }

int main() {
  nothing_kernel<<<1, 1>>>();
  return 0;
}
