// Spreads the blocks of a kernel over the cores of the CPU.

#include <atomic>
#include <barrier>
#include <functional>
#include <memory>
#include <numeric>
#include <system_error>
#include <thread>
#include <vector>

#include "memory/memory.h"
#include "report.h"
#include "run/block.h"
#include "settings.h"
#include "watch/watcher.h"

namespace cuda_on_cpu {
namespace {

/// In which order the blocks get their turn: the number of the k-th.
using BlockOrder = std::function<std::uint64_t(std::uint64_t k)>;
BlockOrder order_of_blocks(std::uint64_t count) {
  if (settings().order == Order::forward) return [](std::uint64_t k) { return k; };
  if (settings().order == Order::reverse) return [=](std::uint64_t k) { return count - 1 - k; };
  // Steps of a length that has no divisor with the count in common come everywhere once.
  std::uint64_t step = count * 5 / 8 + 1;
  while (std::gcd(step, count) != 1) ++step;
  return [=](std::uint64_t k) { return (1 + k * step) % count; };
}

/// What one worker does of a kernel: it takes block after block.
void run_blocks(const Kernel& kernel, const BlockOrder& order, std::atomic<std::uint64_t>& next) {
  thread_local std::unique_ptr<Block> block;
  if (!block) block = std::make_unique<Block>();
  const std::uint64_t count = kernel.blocks();
  for (std::uint64_t k; (k = next.fetch_add(1, std::memory_order_relaxed)) < count;) {
    block->begin(kernel, order(k));
    block->run();
  }
}

/// The workers besides the one that launches. They sleep between kernels, and at the program's end.
class Pool {
 public:
  explicit Pool(int size) : begin_(size + 1), end_(size + 1) {
    try {
      for (int k = 0; k < size; ++k) std::thread([this] { work(); }).detach();
    } catch (const std::system_error& error) {
      fail({"other"}, "cannot start ", size + 1, " workers: ", error.what(),
           ": set LAB_CPU_WORKERS to fewer");
    }
  }

  /// Runs `job` on every worker and here, and waits for all.
  void run(const std::function<void()>& job) {
    job_ = &job;
    begin_.arrive_and_wait();
    job();
    end_.arrive_and_wait();
  }

 private:
  void work() {
    handle_faults_on_this_thread();
    for (;;) {
      begin_.arrive_and_wait();
      (*job_)();
      end_.arrive_and_wait();
    }
  }

  std::barrier<> begin_, end_;  // of a job
  const std::function<void()>* job_ = nullptr;
};

/// All blocks side by side, on one worker: each runs until it waits for the others.
void run_cooperatively(const Kernel& kernel, const BlockOrder& order) {
  const std::uint64_t count = kernel.blocks();
  std::vector<std::unique_ptr<Block>> blocks;
  for (std::uint64_t k = 0; k < count; ++k) {
    blocks.push_back(std::make_unique<Block>());
    blocks.back()->begin(kernel, order(k));
  }
  for (;;) {
    std::uint64_t finished = 0;
    for (const auto& block : blocks) finished += block->run();
    if (finished == count) return;
    // A block that has returned does not come to the barrier again.
    if (finished > 0) {
      fail(report("grid_barrier", kernel.config.where),
           "some blocks wait for the grid, but others have returned: all must reach the barrier");
    }
    if (watcher()) watcher()->grid_synchronises();
  }
}

}  // namespace

void run_kernel(const Kernel& kernel) {
  handle_faults();
  const BlockOrder order = order_of_blocks(kernel.blocks());
  if (watcher()) watcher()->kernel_begins(kernel);
  if (kernel.config.cooperative) {
    run_cooperatively(kernel, order);
  } else {
    std::atomic<std::uint64_t> next{0};
    if (settings().workers == 1 || kernel.blocks() == 1) {
      run_blocks(kernel, order, next);
    } else {
      static Pool& pool = *new Pool(settings().workers - 1);
      pool.run([&] { run_blocks(kernel, order, next); });
    }
  }
  if (watcher()) watcher()->kernel_ends();
}

}  // namespace cuda_on_cpu
