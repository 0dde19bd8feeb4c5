// accesses: @first  40
// accesses: @second 20
//
// How often host code accesses managed memory, by the line that allocated it: what the file that
// LAB_TRACE_TSV names is to hold. An access to memory that was freed does not happen, and does not
// count; here the program goes on after it.

#include "check.h"

#include <csetjmp>
#include <csignal>

sigjmp_buf after_the_fault;

void on_fault(int) { siglongjmp(after_the_fault, 1); }

float* allocate_first(int count) {
  float* memory = nullptr;
  CUDA(cudaMallocManaged(&memory, count * sizeof(float)));  // @first
  return memory;
}

float* allocate_second(int count) {
  float* memory = nullptr;
  CUDA(cudaMallocManaged(&memory, count * sizeof(float)));  // @second
  return memory;
}

void set(float* memory, int count) {
  for (int k = 0; k < count; ++k) memory[k] = static_cast<float>(k);
}

int main() {
  float* const first = allocate_first(40);
  set(first, 40);
  CUDA(cudaFree(first));

  std::signal(SIGSEGV, on_fault);
  if (sigsetjmp(after_the_fault, 1) == 0) {
    set(first, 1);
    CHECK(!"memory that was freed can be written");
  }

  float* const second = allocate_second(20);
  set(second, 20);
  CUDA(cudaFree(second));
  return result();
}
