#pragma once

#include <cuda_runtime.h>
#include <lab/clinic_input.h>
#include <lab/cuda_check.h>
#include <lab/options.h>
#include <lab/quantile.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <vector>

namespace lab {

/// What stands around a kernel of the clinic: the command line, an input, an output, and the run.
///
///   lab::Clinic clinic(argc, argv, kDefaultN);
///   const int* in = clinic.input(count);
///   int* out = clinic.output(count);
///   return clinic.run([=] { launch the kernel });
class Clinic {
 public:
  Clinic(int argc, char** argv, int default_n)
      : options_(parse_clinic_options(argc, argv, default_n)) {}
  ~Clinic() {
    for (int* array : arrays_) CUDA_CHECK(cudaFree(array));
  }
  Clinic(const Clinic&) = delete;
  Clinic& operator=(const Clinic&) = delete;

  int n() const { return options_.n; }

  /// An array of `count` elements in the GPU's memory. They hold clinic_input(0), (1) ...
  const int* input(std::size_t count) {
    std::vector<int> values(count);
    for (std::size_t k = 0; k < count; ++k) values[k] = clinic_input(k);
    return copy_to_gpu(values);
  }

  /// An array for what is between the input and the result. It holds kNotWritten.
  int* scratch(std::size_t count) { return copy_to_gpu(std::vector<int>(count, kNotWritten)); }

  /// The array for the result. It holds kNotWritten.
  int* output(std::size_t count) {
    count_ = count;
    return out_ = copy_to_gpu(std::vector<int>(count, kNotWritten));
  }

  /// Runs `solve` once and records the result. On a GPU it runs again, and the median of the times
  /// is printed. Returns the program's exit code.
  int run(const std::function<void()>& solve) {
    run_once(solve);
    std::vector<int> result(count_);
    CUDA_CHECK(cudaMemcpy(result.data(), out_, count_ * sizeof(int), cudaMemcpyDeviceToHost));
    record_clinic(options_, result);
    std::vector<double> ms;
    const int iterations = options_.iterations > 0 ? options_.iterations : kIterations;
    for (int k = 1; k < iterations; ++k) ms.push_back(run_once(solve));
    if (options_.quiet) return kExitDone;
    cudaDeviceProp gpu;
    CUDA_CHECK(cudaGetDeviceProperties(&gpu, 0));
    std::printf("%s, n = %d, %s: ", LAB_STEP_NAME, n(), gpu.name);
    if (ms.empty() || kIterations == 1) {
      std::printf("done, not timed\n");
    } else {
      std::sort(ms.begin(), ms.end());
      std::printf("%.4f ms (median of %zu: %.4f to %.4f)\n", quantile(ms, 0.5), ms.size(),
                  ms.front(), ms.back());
    }
    return kExitDone;
  }

 private:
  int* copy_to_gpu(const std::vector<int>& values) {
    int* array = nullptr;
    CUDA_CHECK(cudaMalloc(&array, values.size() * sizeof(int)));
    CUDA_CHECK(
        cudaMemcpy(array, values.data(), values.size() * sizeof(int), cudaMemcpyHostToDevice));
    arrays_.push_back(array);
    return array;
  }

  /// Milliseconds of one run.
  float run_once(const std::function<void()>& solve) {
    cudaEvent_t begin, end;
    CUDA_CHECK(cudaEventCreate(&begin));
    CUDA_CHECK(cudaEventCreate(&end));
    CUDA_CHECK(cudaEventRecord(begin));
    solve();
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaEventRecord(end));
    CUDA_CHECK(cudaDeviceSynchronize());
    float ms = 0;
    CUDA_CHECK(cudaEventElapsedTime(&ms, begin, end));
    CUDA_CHECK(cudaEventDestroy(begin));
    CUDA_CHECK(cudaEventDestroy(end));
    return ms;
  }

  static constexpr int kIterations = kOnCpu ? 1 : 21;  // the CPU's time says nothing

  const ClinicOptions options_;
  std::vector<int*> arrays_;
  int* out_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace lab
