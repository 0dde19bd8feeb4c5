#include <cuda_on_cpu/device.h>
#include <cuda_on_cpu/launch.h>

#include <memory>

#include "activity.h"
#include "error.h"
#include "memory/memory.h"
#include "memory/shared_memory.h"
#include "report.h"
#include "run/block.h"
#include "run/queue.h"
#include "settings.h"

namespace cuda_on_cpu {
/// The limits of a launch, the same on every NVIDIA GPU since compute capability 3.0.
static cudaError_t check(const LaunchConfig& config) {
  const dim3 grid = config.grid, block = config.block;
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  const std::uint64_t blocks = std::uint64_t{grid.x} * grid.y * grid.z;
  if (threads == 0 || blocks == 0) {
    return error(cudaErrorInvalidConfiguration, "the grid is ", grid, " blocks of ", block);
  }
  if (threads > kMaxThreads || block.x > 1024 || block.y > 1024) {
    return error(cudaErrorInvalidConfiguration, "a block of ", block, " = ", threads,
                 " threads, but at most 1024 are allowed");
  }
  if (block.z > 64) {
    return error(cudaErrorInvalidConfiguration, "a block ", block.z,
                 " threads deep, but at most 64 are allowed");
  }
  if (grid.x > 0x7fffffff || grid.y > 65535 || grid.z > 65535) {
    const std::string below_zero =
        grid.x > 0x7fffffff ? " (x is " + std::to_string(static_cast<int>(grid.x)) + " as an int)"
                            : "";
    return error(cudaErrorInvalidConfiguration, "a grid of ", grid, below_zero,
                 " blocks, but at most 2147483647 x 65535 x 65535 are allowed");
  }
  if (config.shared_bytes > allowed_shared_bytes()) {
    return error(cudaErrorInvalidValue, config.shared_bytes,
                 " bytes of shared memory, but at most ", allowed_shared_bytes(), " are allowed",
                 config.shared_bytes <= kSharedBytesOptIn ? " without cudaFuncSetAttribute" : "");
  }
  const std::uint64_t most =
      resident_blocks(static_cast<int>(threads)) * settings().multiprocessors;
  if (config.cooperative && blocks > most) {
    return error(cudaErrorCooperativeLaunchTooLarge, blocks, " blocks, but only ", most,
                 " fit at once");
  }
  return cudaSuccess;
}

cudaError_t enqueue_kernel(LaunchConfig config, std::function<void()> run_thread,
                           const std::vector<PointerArgument>& pointers) {
  if (settings().repair.is("more_x", config.where.line)) config.grid.x *= 8;
  if (settings().repair.is("more_y", config.where.line)) config.grid.y *= 8;
  if (Block::current()) {
    fail(report("other", config.where),
         "a kernel cannot launch a kernel here (CUDA on the CPU does not cover it)");
  }
  if (const cudaError_t e = check(config)) {
    // A call that launches returns the error, <<< >>> cannot.
    return config.by_call ? e : refuse_launch(e, config.where);
  }
  note_launch(config, pointers);
  if (!is_capturing(config.stream)) note("handed over", "kernel");
  std::vector<Use> uses;
  const auto kernel = std::make_shared<Kernel>(Kernel{config, std::move(run_thread), {}});
  for (const PointerArgument& argument : pointers) {
    if (argument.member) {
      kernel->members.push_back(argument);
    } else if (const Allocation* a = check_argument(argument, config)) {
      uses.push_back({a, argument.writable});
    }
  }
  auto run = [kernel] {
    const std::size_t before = shared_variable_bytes();
    check_padding(true, kernel->config.where);
    run_kernel(*kernel);
    note_kernel(kernel->config, shared_variable_bytes() - before);
    check_padding(false, kernel->config.where);
  };
  return enqueue(config.stream, config.where, run, std::move(uses));
}

}  // namespace cuda_on_cpu
