// What CUDA_CHECK and lab::require_gpu_memory say where CUDA fails: no driver, an old one, a GPU
// that others hold, no memory. The CUDA runtime is this file's own: it fails as the test tells it.

#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include <lab/cuda_check.h>
#include <lab/gpu_memory.h>
#include <lab/short_path.h>

namespace {

int driver_version = 13000;
cudaError_t next_error = cudaSuccess;
std::size_t free_memory = std::size_t{1} << 30;

}  // namespace

// The part of the CUDA runtime that the lab's headers call.
const char* cudaGetErrorName(cudaError_t) { return "cudaErrorOfThisTest"; }
const char* cudaGetErrorString(cudaError_t) { return "it failed as told"; }
const cuda_on_cpu::Report* cuda_on_cpu::report_of(cudaError_t) { return nullptr; }
cudaError_t cudaDriverGetVersion(int* version) {
  *version = driver_version;
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  *free_bytes = free_memory;
  *total_bytes = std::size_t{16} << 30;
  return next_error;
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  std::memset(properties, 0, sizeof *properties);
  std::strcpy(properties->name, "A test's GPU");
  return cudaSuccess;
}

namespace {

struct Failure {
  const char* name;
  cudaError_t error;
  int driver;
  int exit_code;
  const char* words;  // a regular expression
};

void PrintTo(const Failure& failure, std::ostream* out) { *out << failure.name; }

class CudaCheckDeathTest : public ::testing::TestWithParam<Failure> {};

TEST_P(CudaCheckDeathTest, is_one_clear_line) {
  const Failure& failure = GetParam();
  EXPECT_EXIT(
      {
        driver_version = failure.driver;
        next_error = failure.error;
        CUDA_CHECK(next_error);
      },
      ::testing::ExitedWithCode(failure.exit_code), failure.words);
}

INSTANTIATE_TEST_SUITE_P(
    cuda, CudaCheckDeathTest,
    ::testing::Values(
        Failure{"no_driver", cudaErrorInsufficientDriver, 0, 77,
                "no NVIDIA driver found: this program needs an NVIDIA GPU"},
        Failure{"old_driver", cudaErrorInsufficientDriver, 11080, 77,
                "the driver is too old: it serves CUDA 11.8, but this program was built with CUDA"},
        Failure{"no_device", cudaErrorNoDevice, 13000, 77, "no usable GPU: it failed as told"},
        Failure{"busy_or_exclusive", cudaErrorDevicesUnavailable, 13000, 77,
                "no usable GPU: another program has it to itself"},
        Failure{"not_ready", cudaErrorSystemNotReady, 13000, 77, "no usable GPU"},
        Failure{"driver_mismatch", cudaErrorSystemDriverMismatch, 13000, 77, "no usable GPU"},
        Failure{"out_of_memory", cudaErrorMemoryAllocation, 13000, 5, "take a smaller --n"},
        Failure{"other_gpu", cudaErrorNoKernelImageForDevice, 13000, 3,
                "contains no code for this GPU.*CUDAARCHS"},
        Failure{"illegal_address", cudaErrorIllegalAddress, 13000, 3, "make sanitize"},
        Failure{"bad_launch", cudaErrorInvalidConfiguration, 13000, 3,
                "cuda_check_test.cpp:[0-9]+: next_error: it failed as told"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(ShortPathTest, begins_where_the_lab_does) {
  const std::string of_step = "exercises/04_jacobi_kernel/jacobi.cu";
  for (const std::string above : {"", "/lab/", "/data/exercises/lab/"}) {
    EXPECT_EQ(lab::short_path((above + of_step).c_str()), of_step);
    EXPECT_STREQ(lab::short_path((above + "lab/src/ranks.cpp").c_str()), "ranks.cpp");
  }
  EXPECT_EQ(lab::short_path(("/solutions/1/" + of_step).c_str()), of_step);
  EXPECT_STREQ(lab::short_path("run.cpp"), "run.cpp");
}

TEST(RequireGpuMemoryDeathTest, too_little_memory_names_the_largest_n) {
  EXPECT_EXIT(
      {
        free_memory = std::size_t{256} << 20;
        lab::require_gpu_memory(100000, 8);
      },
      ::testing::ExitedWithCode(5),
      "n = 100000 needs 80.0 GB of GPU memory, and A test's GPU has 0.3 GB free: the largest n "
      "that fits is 5016");
}

TEST(RequireGpuMemoryTest, enough_memory_is_no_error) { lab::require_gpu_memory(100, 8); }

}  // namespace
