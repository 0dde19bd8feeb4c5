#pragma once
// What the programs of this folder check themselves with. They say nothing but what is wrong.

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

inline int failed_checks = 0;

inline void check(bool holds, const char* words, const char* file, int line) {
  if (holds) return;
  ++failed_checks;
  std::printf("%s:%d: %s\n", file, line, words);
}

template <class A, class B>
void check_equal(const A& is, const B& should_be, const char* words, const char* file, int line) {
  if (is == static_cast<A>(should_be)) return;
  ++failed_checks;
  std::printf("%s:%d: %s is %.17g, not %.17g\n", file, line, words, static_cast<double>(is),
              static_cast<double>(should_be));
}

/// A call that must succeed; without it the rest makes no sense.
inline void check_cuda(cudaError_t error, const char* call, const char* file, int line) {
  if (error == cudaSuccess) return;
  std::printf("%s:%d: %s: %s\n", file, line, call, cudaGetErrorString(error));
  std::exit(1);
}

#define CHECK(...) check((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
#define CHECK_EQUAL(is, should_be) check_equal(is, should_be, #is, __FILE__, __LINE__)
#define CUDA(...) check_cuda((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
#define LAUNCHED() CUDA(cudaGetLastError())
/// After a launch: it was accepted, and has run to its end.
#define FINISHED()                 \
  do {                             \
    LAUNCHED();                    \
    CUDA(cudaDeviceSynchronize()); \
  } while (false)

/// An array that both sides use, all zero at first.
template <class T>
class Array {
 public:
  explicit Array(int count) : count_(count) {
    CUDA(cudaMallocManaged(&data_, count * sizeof(T)));
    for (int k = 0; k < count; ++k) data_[k] = T{};
  }
  ~Array() { cudaFree(data_); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  T& operator[](int k) { return data_[k]; }
  T* data() { return data_; }
  int size() const { return count_; }

 private:
  T* data_ = nullptr;
  int count_;
};

/// What main returns.
inline int result() { return failed_checks == 0 ? 0 : 1; }
