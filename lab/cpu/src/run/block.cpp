#include "run/block.h"

#include <algorithm>
#include <atomic>
#include <bit>

#include <cuda_on_cpu/atomic.h>
#include <cuda_on_cpu/shared.h>

#include "memory/shared_memory.h"
#include "settings.h"
#include "watch/watcher.h"

__thread uint3 threadIdx{}, blockIdx{};
__thread dim3 blockDim, gridDim;

namespace cuda_on_cpu {

__thread char* shared_memory = nullptr;
__thread char* dynamic_shared_memory = nullptr;
__thread bool in_kernel_code = false;
thread_local Block* Block::current_block = nullptr;

namespace {
unsigned bit_of(int thread) { return 1u << (thread & 31); }
int lowest(unsigned lanes) { return std::countr_zero(lanes); }
}  // namespace

Block::Block() : shared_(reserve_shared_memory()) {}

Block::~Block() { release_shared_memory(shared_); }

void Block::begin(const Kernel& kernel, std::uint64_t number) {
  kernel_ = &kernel;
  number_ = number;
  began_ = std::chrono::steady_clock::now();
  const dim3 grid = kernel.config.grid, shape = kernel.config.block;
  block_index_ = {static_cast<unsigned>(number % grid.x),
                  static_cast<unsigned>(number / grid.x % grid.y),
                  static_cast<unsigned>(number / grid.x / grid.y)};
  if (shape.x != shape_.x || shape.y != shape_.y || shape.z != shape_.z) {
    shape_ = shape;
    threads_ = static_cast<int>(shape.x * shape.y * shape.z);
    warp_count_ = (threads_ + 31) / 32;
    for (unsigned t = 0; t < unsigned(threads_); ++t) {
      index_[t] = {t % shape.x, t / shape.x % shape.y, t / shape.x / shape.y};
    }
    for (int w = 0; w < warp_count_; ++w) {
      warp_order_[w] = settings().order == Order::reverse ? warp_count_ - 1 - w : w;
    }
  }
  for (int w = 0; w < warp_count_; ++w) {
    const int lanes = std::min(32, threads_ - 32 * w);
    const unsigned all = lanes == 32 ? ~0u : (1u << lanes) - 1;
    warps_[w] = {all, all, 0, 0, 0};
  }
  std::fill_n(suspended_on_, threads_, nullptr);
  std::fill_n(pipelines_, threads_, Pipeline{});
  votes_so_far_ = 0;
  dynamic_shared_ = fill_shared_memory(shared_, kernel.config.shared_bytes);
  begin_round();
}

bool Block::run() {
  current_block = this;
  blockIdx = block_index_;
  blockDim = kernel_->config.block;
  gridDim = kernel_->config.grid;
  shared_memory = shared_;
  dynamic_shared_memory = dynamic_shared_;
  if (watcher()) watcher()->block_resumes(*this);
  // Threads at the grid barrier: all blocks have come, go on.
  for (int w = 0; w < warp_count_; ++w) {
    warps_[w].ready |= std::exchange(warps_[w].at_grid, 0);
  }
  begin_round();
  fibre_ = &home_;
  hand_over(next_thread());

  current_block = nullptr;
  bool finished = true;
  for (int w = 0; w < warp_count_; ++w) finished &= warps_[w].at_grid == 0;
  if (finished && watcher()) watcher()->block_ends(*this);
  return finished;
}

// ---- whose turn it is ---------------------------------------------------------------------------

double Block::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
}

void Block::begin_round() {
  turn_ = 0;
  if (settings().order == Order::shuffled) {
    for (int k = warp_count_ - 1; k > 0; --k) {
      std::swap(warp_order_[k], warp_order_[random_() % (k + 1)]);
    }
  }
}

int Block::pick_lane(int warp) {
  const unsigned ready = warps_[warp].ready;
  if (watcher()) return watcher()->choose_lane(warp, ready);
  switch (settings().order) {
    case Order::forward:
      break;
    case Order::reverse:
      return 31 - std::countl_zero(ready);
    case Order::shuffled:
      const int first = random_() % 32;
      return (lowest(std::rotr(ready, first)) + first) % 32;
  }
  return lowest(ready);
}

/// Each warp in its turn runs until all its threads wait or have returned. When all of them do, the
/// barrier opens and the next round begins; if it does not open again, no thread is left.
int Block::next_thread() {
  for (;;) {
    for (; turn_ < warp_count_; ++turn_) {
      const int warp = warp_order_[turn_];
      if (warps_[warp].ready) return 32 * warp + pick_lane(warp);
    }
    if (!open_barrier()) return kNobody;
    begin_round();
  }
}

void Block::become(int thread) {
  running_ = thread;
  threadIdx = index_[thread];
}

void Block::hand_over(int thread) {
  Fibre* from = fibre_;
  if (thread == kNobody) {
    fibre_ = &home_;
    running_ = kNobody;
  } else {
    if (suspended_on_[thread]) {
      fibre_ = suspended_on_[thread];
    } else if (!idle_.empty()) {
      fibre_ = idle_.back();
      idle_.pop_back();
    } else {
      fibres_.push_back(std::make_unique<Fibre>(fibre_main));
      idle_.reserve(fibres_.size());
      fibre_ = fibres_.back().get();
    }
    become(thread);
  }
  from->switch_to(*fibre_);
}

void Block::fibre_main() { current_block->run_threads(); }  // a fibre stays with its block

void Block::run_threads() {
  for (;;) {
    in_kernel_code = true;
    kernel_->run_thread();
    in_kernel_code = false;
    if (watcher()) watcher()->thread_ends(*this);
    warp_of(running_).ready &= ~bit_of(running_);
    const int next = next_thread();
    if (next != kNobody && !suspended_on_[next]) {
      become(next);
    } else {
      idle_.push_back(fibre_);
      hand_over(next);  // until this fibre is taken for a new thread
    }
  }
}

void Block::wait() {
  const int thread = running_, next = next_thread();
  if (next == thread) return;
  suspended_on_[thread] = fibre_;
  hand_over(next);
}

/// The running thread joins those that wait `at` a barrier.
void Block::wait_at(unsigned Warp::*at, Where where) {
  waits_at_[running_] = where;
  warp_of(running_).ready &= ~bit_of(running_);
  warp_of(running_).*at |= bit_of(running_);
  wait();
}

// ---- barriers -----------------------------------------------------------------------------------

int Block::block_barrier(bool vote, Where where) {
  const OutsideKernelCode outside;
  votes_so_far_ += vote;
  wait_at(&Warp::at_block, where);
  return votes_;
}

void Block::grid_barrier(Where where) {
  const OutsideKernelCode outside;
  if (!kernel_->config.cooperative) {
    fail_in_block("plain_launch", where,
                  "the grid cannot be synchronised: launch the kernel with "
                  "cudaLaunchCooperativeKernel");
  }
  wait_at(&Warp::at_grid, where);
}

/// No thread of the block can go on. Opens the barrier that they wait at; false if they have all
/// returned or wait for the grid. Where neither is so, they would wait for ever: that is an error.
bool Block::open_barrier() {
  int returned = 0, at_grid = 0;
  for (int w = 0; w < warp_count_; ++w) {
    if (warps_[w].at_warp) fail_at_warp(w);
    returned += std::popcount(warps_[w].returned());
    at_grid += std::popcount(warps_[w].at_grid);
  }
  if (returned == threads_ || at_grid == threads_) return false;
  if (at_grid > 0) fail_at_barrier(&Warp::at_grid, "grid barrier", "");
  const auto at_same = [this](Where where) { return where == waits_at_[0]; };
  if (returned > 0 || !std::all_of(waits_at_, waits_at_ + threads_, at_same)) {
    fail_at_barrier(&Warp::at_block, "barrier",
                    "; GPUs since Volta let that pass, older ones may hang");
  }

  for (int w = 0; w < warp_count_; ++w) warps_[w].ready = std::exchange(warps_[w].at_block, 0);
  votes_ = std::exchange(votes_so_far_, 0);
  if (watcher()) watcher()->block_synchronises(*this);
  return true;
}

// ---- warps --------------------------------------------------------------------------------------

std::uint64_t Block::warp_exchange(unsigned mask, std::uint64_t value, int source_lane,
                                   Where where) {
  const OutsideKernelCode outside;
  const int thread = running_, first = thread & ~31;
  Warp& warp = warp_of(thread);
  if (!(mask & bit_of(thread))) {
    fail_in_block("mask", where,
                  joined("thread ", index_[thread], " is not in the mask that it gives"));
  }
  waits_at_[thread] = where;
  mask_[thread] = mask & warp.all;
  value_[thread] = value;
  source_lane_[thread] = source_lane;
  warp.ready &= ~bit_of(thread);
  warp.at_warp |= bit_of(thread);

  // Complete when all lanes of the mask are here, with the same mask.
  const unsigned lanes = mask & warp.all;
  bool complete = (warp.at_warp & lanes) == lanes;
  for (unsigned rest = lanes; complete && rest; rest &= rest - 1) {
    const int other = first + lowest(rest);
    complete = mask_[other] == lanes && is_ballot(other) == is_ballot(thread);
  }
  if (complete) complete_exchange(thread / 32, lanes);
  wait();
  return value_[thread];
}

void Block::complete_exchange(int warp, unsigned lanes) {
  const int first = 32 * warp;
  unsigned ballot = 0;
  std::uint64_t brought[32];
  for (unsigned rest = lanes; rest; rest &= rest - 1) {
    const int lane = lowest(rest);
    brought[lane] = value_[first + lane];
    if (brought[lane]) ballot |= 1u << lane;
  }
  for (unsigned rest = lanes; rest; rest &= rest - 1) {
    const int thread = first + lowest(rest), source = source_lane_[thread];
    if (is_ballot(thread)) {
      value_[thread] = ballot;
    } else if (lanes >> source & 1) {
      value_[thread] = brought[source];
    } else {
      fail_in_block(
          "lane", waits_at_[thread],
          joined("thread ", index_[thread], " reads from lane ", source, ", which takes no part"),
          text(source));
    }
  }
  if (watcher()) watcher()->warp_synchronises(warp, lanes);
  warps_[warp].at_warp &= ~lanes;
  warps_[warp].ready |= lanes;
}

// ---- what goes wrong ----------------------------------------------------------------------------

std::string Block::describe_running_thread() const {
  return joined("kernel launched at ", kernel_->config.where, ", block ", block_index_, ", thread ",
                index_[running_]);
}

std::string Block::describe_place_of_running_thread() const {
  return joined(describe_running_thread(), ": blockIdx * blockDim + threadIdx is (",
                report("", {}).index, ")");
}

const PipelineCopy* Block::copy_in_flight_to(const char* place) const {
  for (int t = 0; t < threads_; ++t) {
    for (const PipelineCopy& copy : pipelines_[t].copies) {
      const char* to = static_cast<const char*>(copy.to);
      if (!copy.made && place >= to && place < to + copy.bytes) return &copy;
    }
  }
  return nullptr;
}

Report Block::report(const char* kind, Where where, int thread) const {
  Report report = cuda_on_cpu::report(kind, where);
  const dim3 block = kernel_->config.block;
  const uint3 in_block = index_[thread];
  report.block = numbers(block_index_);
  report.thread = numbers(in_block);
  report.index =
      numbers({block_index_.x * block.x + in_block.x, block_index_.y * block.y + in_block.y,
               block_index_.z * block.z + in_block.z});
  return report;
}

void Block::fail_in_block(const char* kind, Where where, const std::string& what,
                          const std::string& detail) {
  Report report = cuda_on_cpu::report(kind, where);
  report.block = numbers(block_index_);
  report.bytes = threads_;
  report.detail = detail;
  fail(report, what, " (kernel launched at ", kernel_->config.where, ", block ", block_index_, ")");
}

void Block::fail_at_warp(int warp) {
  const Warp& w = warps_[warp];
  const int thread = 32 * warp + lowest(w.at_warp);
  // Somebody whom it waits for: not here, or here with other words.
  const auto here = [&](int other) { return (w.at_warp & bit_of(other)) != 0; };
  unsigned rest = mask_[thread];
  int other = 32 * warp + lowest(rest);
  while (here(other) && mask_[other] == mask_[thread] && is_ballot(other) == is_ballot(thread)) {
    rest &= rest - 1;
    other = 32 * warp + lowest(rest);
  }
  const bool other_mask = here(other) && mask_[other] != mask_[thread];
  const bool returned = w.returned() & bit_of(other);
  const bool elsewhere = !returned && !(waits_at_[other] == waits_at_[thread]);
  const std::string does =
      returned ? " has returned"
               : joined(" waits at ", waits_at_[other], other_mask ? " with another mask" : "");
  fail_in_block("shuffle", waits_at_[thread],
                joined("thread ", index_[thread], " waits here for the others of its mask, thread ",
                       index_[other], does),
                elsewhere ? text(waits_at_[other].line) : "");
}

/// Of a thread that waits `at` the barrier, and one that does not wait there.
void Block::fail_at_barrier(unsigned Warp::*at, const char* barrier, const char* if_returned) {
  int waiting = 0, other = 0;
  while (!(warp_of(waiting).*at & bit_of(waiting))) ++waiting;
  while (warp_of(other).*at & bit_of(other) && waits_at_[other] == waits_at_[waiting]) ++other;
  const bool returned = warp_of(other).returned() & bit_of(other);
  const std::string does =
      returned ? joined(" has returned", if_returned) : joined(" waits at ", waits_at_[other]);
  fail_in_block("barrier", waits_at_[waiting],
                joined(barrier, " not reached by all threads of the block: thread ",
                       index_[waiting], " waits here, thread ", index_[other], does),
                returned ? "" : text(waits_at_[other].line));
}

// ---- what the headers call ----------------------------------------------------------------------

int block_barrier(bool vote, Where where) { return Block::current()->block_barrier(vote, where); }
void grid_barrier(Where where) { Block::current()->grid_barrier(where); }
void check_launch_bounds(long long most, Where where) {
  const OutsideKernelCode outside;
  const dim3 block = blockDim;
  if (1LL * block.x * block.y * block.z <= most) return;
  fail(report("launch_bounds", Block::current()->kernel().config.where),
       "a GPU refuses this launch: a block of ", block,
       " threads, but __launch_bounds__ of the kernel at ", where, " allows ", most);
}
void refuse_own_variable(const void* p, Where where) {
  const OutsideKernelCode outside;
  const Block* block = Block::current();
  if (!block || !block->fibre().holds(p)) return;
  fail(block->report("own_variable", where),
       "changes atomically a variable of the thread's own, which no other thread sees (",
       block->describe_place_of_running_thread(), ")");
}
void block_fence() { std::atomic_thread_fence(std::memory_order_seq_cst); }
void thread_fence() {
  block_fence();
  const OutsideKernelCode outside;
  if (Block* block = Block::current(); block && watcher()) watcher()->thread_fences(*block);
}
int lane() { return Block::current()->running_thread() & 31; }
std::uint64_t warp_exchange(unsigned mask, std::uint64_t value, int source_lane, Where where) {
  return Block::current()->warp_exchange(mask, value, source_lane, where);
}
unsigned warp_ballot(unsigned mask, bool vote, Where where) {
  return static_cast<unsigned>(Block::current()->warp_exchange(mask, vote, Block::kBallot, where));
}

}  // namespace cuda_on_cpu
