// What the headers of CUB and of the asynchronous copies need.

#include <cuda_pipeline_primitives.h>
#include <cub/operators.cuh>

#include <cstring>

#include "memory/shared_memory.h"
#include "report.h"
#include "run/block.h"
#include "settings.h"
#include "watch/watcher.h"

namespace cuda_on_cpu {

void check_block_shape(const char* collective, int x, int y, int z, Where where) {
  const OutsideKernelCode outside;
  const dim3 shape = blockDim;
  if (int(shape.x) == x && int(shape.y) == y && int(shape.z) == z) return;
  const Block& block = *Block::current();
  Report report = block.report("shape", where);
  report.detail = joined(collective, " is made for a block of ", dim3(x, y, z),
                         " threads, but this one has ", shape);
  block.fail_in_thread(report, report.detail);
}

void check_in_shared_memory(const void* storage, const char* collective, Where where) {
  const OutsideKernelCode outside;
  const Block& block = *Block::current();
  if (shared_offset(block.shared_memory_begin(), storage)) return;
  block.fail_in_thread(block.report("storage", where), "the temporary storage of ", collective,
                       " must be in shared memory");
}

/// Ends the program if a copy that the thread has not waited for goes to the same bytes: which of
/// the two arrives last is not determined.
static void check_target(const Pipeline& mine, const PipelineCopy& copy) {
  const char* begin = static_cast<const char*>(copy.to);
  for (const PipelineCopy& before : mine.copies) {
    const char* other = static_cast<const char*>(before.to);
    if (begin >= other + before.bytes || other >= begin + copy.bytes) continue;
    const Block& block = *Block::current();
    block.fail_in_thread(block.report("two_copies", copy.where),
                         "an asynchronous copy goes to shared memory to which the one of ",
                         before.where,
                         " may still be in flight: __pipeline_wait_prior waits for it: ",
                         describe_shared(begin - block.shared_memory_begin()));
  }
}

static void make_copy(const PipelineCopy& copy) {
  const std::size_t copied = copy.bytes - copy.zero_bytes;
  if (watcher()) watcher()->see_library(copy.to, copy.bytes, Access::write, copy.where);
  std::memcpy(copy.to, copy.from, copied);
  std::memset(static_cast<char*>(copy.to) + copied, 0, copy.zero_bytes);
}

void pipeline_copy(void* to_shared, const void* from_global, std::size_t bytes,
                   std::size_t zero_bytes, Where where) {
  const OutsideKernelCode outside;
  const bool size = bytes == 4 || bytes == 8 || bytes == 16;
  const auto misaligned = [bytes](const void* p) {
    return reinterpret_cast<std::uintptr_t>(p) % bytes != 0;
  };
  Block& block = *Block::current();
  const bool aligned = !misaligned(to_shared) && !misaligned(from_global);
  if (!size || zero_bytes > bytes || !aligned) {
    block.fail_in_thread(block.report(size && !aligned ? "misaligned" : "async_copy", where),
                         "an asynchronous copy moves 4, 8 or 16 bytes, aligned to their number");
  }
  if (watcher() && zero_bytes > 0) {
    watcher()->see_library(from_global, bytes - zero_bytes, Access::read, where);
  }
  // What does not exist is found at the line that asks for it, and not where it is waited for.
  for (const std::size_t byte : {std::size_t{0}, bytes - zero_bytes - 1}) {
    if (zero_bytes < bytes) (void)static_cast<const volatile char*>(from_global)[byte];
  }
  Pipeline& mine = block.pipeline();
  PipelineCopy copy = {to_shared, from_global, bytes, zero_bytes, where, mine.groups};
  if (watcher()) check_target(mine, copy);
  // A copy may arrive at any time until it is waited for: at once, or as late as can be.
  if (settings().order == Order::reverse) {
    make_copy(copy);
    if (!watcher()) return;
    copy.made = true;
  }
  mine.copies.push_back(copy);
}

void pipeline_commit() {
  const OutsideKernelCode outside;
  ++Block::current()->pipeline().groups;
}

void pipeline_wait(int groups_left) {
  const OutsideKernelCode outside;
  Pipeline& mine = Block::current()->pipeline();
  auto copy = mine.copies.begin();
  for (; copy != mine.copies.end() && copy->group < mine.groups - groups_left; ++copy) {
    if (!copy->made) make_copy(*copy);
  }
  mine.copies.erase(mine.copies.begin(), copy);
}

}  // namespace cuda_on_cpu
