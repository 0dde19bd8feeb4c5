// What the headers of CUB and of the asynchronous copies need.

#include <cuda_pipeline_primitives.h>
#include <cub/operators.cuh>

#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "memory/shared_memory.h"
#include "report.h"
#include "run/block.h"
#include "settings.h"
#include "watcher.h"

namespace cuda_on_cpu {

void check_block_shape(const char* collective, int x, int y, int z, Where where) {
  const OutsideKernelCode outside;
  const dim3 block = blockDim;
  if (int(block.x) == x && int(block.y) == y && int(block.z) == z) return;
  char words[200];
  std::snprintf(words, sizeof words,
                "%s is made for a block of %d x %d x %d threads, but this one has %u x %u x %u",
                collective, x, y, z, block.x, block.y, block.z);
  Report report = Block::current()->report("shape", where);
  report.detail = words;
  fail(report, "%s (%s)", words, Block::current()->describe_running_thread().c_str());
}

void check_in_shared_memory(const void* storage, const char* collective, Where where) {
  const OutsideKernelCode outside;
  std::size_t offset;
  if (in_shared_memory(Block::current()->shared_memory_begin(), storage, &offset)) return;
  fail(Block::current()->report("storage", where),
       "the temporary storage of %s must be in shared memory (%s)", collective,
       Block::current()->describe_running_thread().c_str());
}

struct PipelineCopy {
  void* to;
  const void* from;
  std::size_t bytes, zero_bytes;
  Where where;
  bool made = false;  // at once; kept for check_target

  bool meets(const char* begin, std::size_t length) const {
    const char* own = static_cast<const char*>(to);
    return begin < own + bytes && own < begin + length;
  }
};
/// What one thread has asked for: copies not yet committed, and groups of committed ones.
struct Pipeline {
  std::vector<PipelineCopy> open;
  std::vector<std::vector<PipelineCopy>> groups;
};

namespace {

Pipeline& pipeline_of_running_thread() {
  std::shared_ptr<Pipeline>& mine = Block::current()->pipeline();
  if (!mine) mine = std::make_shared<Pipeline>();
  return *mine;
}

/// Ends the program if a copy that the thread has not waited for goes to the same bytes: which of
/// the two arrives last is not determined.
void check_target(const Pipeline& mine, const PipelineCopy& copy) {
  const char* begin = static_cast<const char*>(copy.to);
  const auto check_all = [&](const std::vector<PipelineCopy>& copies) {
    for (const PipelineCopy& before : copies) {
      if (!before.meets(begin, copy.bytes)) continue;
      const Block& block = *Block::current();
      fail(block.report("two_copies", copy.where),
           "an asynchronous copy goes to shared memory to which the one of %s may still be "
           "in flight: __pipeline_wait_prior waits for it: %s (%s)",
           text(before.where).c_str(), describe_shared(begin - block.shared_memory_begin()).c_str(),
           block.describe_running_thread().c_str());
    }
  };
  for (const auto& group : mine.groups) check_all(group);
  check_all(mine.open);
}

void make_copy(const PipelineCopy& copy) {
  const std::size_t copied = copy.bytes - copy.zero_bytes;
  watch_library_access(copy.to, copy.bytes, Access::write, copy.where);
  std::memcpy(copy.to, copy.from, copied);
  std::memset(static_cast<char*>(copy.to) + copied, 0, copy.zero_bytes);
}

}  // namespace

void pipeline_copy(void* to_shared, const void* from_global, std::size_t bytes,
                   std::size_t zero_bytes, Where where) {
  const OutsideKernelCode outside;
  const bool size = bytes == 4 || bytes == 8 || bytes == 16;
  const auto misaligned = [bytes](const void* p) {
    return reinterpret_cast<std::uintptr_t>(p) % bytes != 0;
  };
  if (!size || zero_bytes > bytes || misaligned(to_shared) || misaligned(from_global)) {
    fail(Block::current()->report("async_copy", where),
         "an asynchronous copy moves 4, 8 or 16 bytes, aligned to their number (%s)",
         Block::current()->describe_running_thread().c_str());
  }
  if (zero_bytes > 0) watch_library_access(from_global, bytes - zero_bytes, Access::read, where);
  PipelineCopy copy = {to_shared, from_global, bytes, zero_bytes, where};
  Pipeline& mine = pipeline_of_running_thread();
  if (watcher()) check_target(mine, copy);
  // A copy may arrive at any time until it is waited for: at once, or as late as can be.
  if (settings().order == Order::reverse) {
    make_copy(copy);
    if (!watcher()) return;
    copy.made = true;
  }
  mine.open.push_back(copy);
}

void pipeline_commit() {
  const OutsideKernelCode outside;
  Pipeline& mine = pipeline_of_running_thread();
  mine.groups.push_back(std::move(mine.open));
  mine.open.clear();
}

void pipeline_wait(int groups_left) {
  const OutsideKernelCode outside;
  Pipeline& mine = pipeline_of_running_thread();
  while (static_cast<int>(mine.groups.size()) > groups_left) {
    for (const PipelineCopy& copy : mine.groups.front()) {
      if (!copy.made) make_copy(copy);
    }
    mine.groups.erase(mine.groups.begin());
  }
}

}  // namespace cuda_on_cpu
