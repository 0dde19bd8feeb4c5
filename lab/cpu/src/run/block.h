#pragma once

#include <cuda_on_cpu/launch.h>
#include <cuda_on_cpu/thread.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "report.h"
#include "run/fibre.h"

namespace cuda_on_cpu {

constexpr int kMaxThreads = 1024;  // of a block
constexpr int kMaxWarps = 32;      // of a block
constexpr int kNobody = -1;        // instead of a thread's number

/// An asynchronous copy to shared memory that a thread has asked for.
struct PipelineCopy {
  void* to;
  const void* from;
  std::size_t bytes, zero_bytes;
  Where where;
  int group;          // the number of committed groups before its own
  bool made = false;  // at once; kept for check_target
};
/// What one thread has asked for, and not waited for.
struct Pipeline {
  std::vector<PipelineCopy> copies;
  int groups = 0;  // committed
};

/// A kernel that was launched, with its arguments.
struct Kernel {
  LaunchConfig config;
  std::function<void()> run_thread;      // the kernel's code for the thread that threadIdx names
  std::vector<PointerArgument> members;  // of its arguments: where these point, no kernel can read

  std::uint64_t blocks() const {
    return std::uint64_t{config.grid.x} * config.grid.y * config.grid.z;
  }
};

/// Whether the code that runs now is a kernel's own. In a watched program functions of the standard
/// library are watched too, of which this engine shares some with the kernels.
extern __thread bool in_kernel_code;

/// As long as it lives, the code that runs is not the kernel's: in functions that a kernel calls.
struct OutsideKernelCode {
  const bool before = std::exchange(in_kernel_code, false);
  ~OutsideKernelCode() { in_kernel_code = before; }
};

/// Runs the threads of one block. They are numbered as CUDA numbers them: thread t is lane t % 32
/// of warp t / 32. One runs at a time, until it waits or ends. Threads that never wait run one
/// after the other on one fibre; a thread that waits keeps the fibre it is on.
class Block {
 public:
  Block();
  ~Block();

  /// Gets ready for block `number` of the kernel's grid.
  void begin(const Kernel& kernel, std::uint64_t number);

  /// Runs the block's threads to their end (true), or until all wait for the grid (false; call it
  /// again when all blocks do).
  bool run();

  /// The block whose thread runs on this worker now; null outside of kernels.
  static Block* current() { return current_block; }

  // What the running thread asks for; the functions of the same names in the headers call these.
  int block_barrier(bool vote, Where where);
  void grid_barrier(Where where);
  static constexpr int kBallot = 32;  // as the source: which lanes have brought anything but 0
  std::uint64_t warp_exchange(unsigned mask, std::uint64_t value, int source_lane, Where where);

  /// Lets others run first: the running thread has been put among those that wait, or gives way to
  /// the one that the watcher chooses.
  void wait();

  int running_thread() const { return running_; }
  uint3 thread_index(int thread) const { return index_[thread]; }
  uint3 block_index() const { return block_index_; }
  std::uint64_t number() const { return number_; }
  double seconds() const;  ///< since it began
  Pipeline& pipeline() { return pipelines_[running_]; }
  /// A copy to this place that a thread has asked for, and that has not been made yet; null: none.
  const PipelineCopy* copy_in_flight_to(const char* place) const;
  const Kernel& kernel() const { return *kernel_; }
  const Fibre& fibre() const { return *fibre_; }
  const char* shared_memory_begin() const { return shared_; }

  /// Ends the program at what the running thread does: the message goes on with which thread it is.
  [[noreturn]] void fail_in_thread(Report report, const auto&... what) const {
    fail(std::move(report), what..., " (", describe_running_thread(), ")");
  }
  /// "kernel launched at jacobi.cu:109, block (3,0,0), thread (31,2,0)"
  std::string describe_running_thread() const;
  /// The same, and where in the launch grid that is: ": blockIdx * blockDim + threadIdx is
  /// (127,2,0)".
  std::string describe_place_of_running_thread() const;

  /// A report of what a thread, or the running one, does there.
  Report report(const char* kind, Where where, int thread) const;
  Report report(const char* kind, Where where) const { return report(kind, where, running_); }

 private:
  /// The 32 threads of a warp as bits: each of `all` is in one of the others, or has returned.
  struct Warp {
    unsigned all, ready, at_warp, at_block, at_grid;
    unsigned returned() const { return all & ~(ready | at_warp | at_block | at_grid); }
  };

  static void fibre_main();
  [[noreturn]] void run_threads();
  void become(int thread);
  void hand_over(int thread);
  void wait_at(unsigned Warp::*at, Where where);
  int next_thread();
  int pick_lane(int warp);
  void begin_round();
  bool open_barrier();
  void complete_exchange(int warp, unsigned lanes);
  Warp& warp_of(int thread) { return warps_[thread / 32]; }
  bool is_ballot(int thread) const { return source_lane_[thread] == kBallot; }

  [[noreturn]] void fail_at_warp(int warp);
  [[noreturn]] void fail_at_barrier(unsigned Warp::*at, const char* barrier,
                                    const char* if_returned);
  [[noreturn]] void fail_in_block(const char* kind, Where where, const std::string& what,
                                  const std::string& detail = "");

  static thread_local Block* current_block;

  const Kernel* kernel_ = nullptr;
  std::uint64_t number_ = 0;
  std::chrono::steady_clock::time_point began_;
  uint3 block_index_{};
  dim3 shape_{0, 0, 0};
  int threads_ = 0, warp_count_ = 0;
  Warp warps_[kMaxWarps];
  int warp_order_[kMaxWarps];
  int turn_ = 0;  // warp_order_[turn_] has its turn
  std::minstd_rand random_;

  int running_ = kNobody;
  uint3 index_[kMaxThreads];
  Pipeline pipelines_[kMaxThreads];
  Fibre* suspended_on_[kMaxThreads];  // null: the thread has not begun

  // Of a thread that waits: where, and what it brought to the others of its warp.
  Where waits_at_[kMaxThreads];
  unsigned mask_[kMaxThreads];
  int source_lane_[kMaxThreads];
  std::uint64_t value_[kMaxThreads];

  int votes_so_far_ = 0, votes_ = 0;  // at the block's barrier

  Fibre home_;
  Fibre* fibre_ = &home_;  // the one that runs
  std::vector<std::unique_ptr<Fibre>> fibres_;
  std::vector<Fibre*> idle_;

  char* shared_;          // this block's shared memory: the static variables ...
  char* dynamic_shared_;  // ... and the part whose size the launch gives
};

/// The most shared memory that a launch may ask for without and with cudaFuncSetAttribute.
constexpr std::size_t kSharedBytes = 48 * 1024, kSharedBytesOptIn = 227 * 1024;
/// The most dynamic shared memory that a launch may ask for now.
std::size_t allowed_shared_bytes();

/// Runs all blocks of a kernel, on the workers that the settings ask for.
void run_kernel(const Kernel& kernel);

constexpr int kThreadsPerMultiprocessor = 2048;

}  // namespace cuda_on_cpu
