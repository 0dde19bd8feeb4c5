#include "memory/shared_memory.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>

#include <sys/mman.h>

#include <cuda_on_cpu/shared.h>

#include "memory/memory.h"
#include "report.h"
#include "run/block.h"

namespace cuda_on_cpu {
namespace {

// The room: all static variables of all kernels of the program, then the launch's own part, then
// pages that cannot be touched. Before it are bytes that belong to nothing, so that what gets there
// by mistake finds the same in each run.
constexpr std::size_t kStaticBytes = std::size_t{1} << 20;
constexpr std::size_t kDynamicBytes = 256 * 1024;
constexpr std::size_t kBytesBefore = 64 * 1024;
constexpr std::size_t kGuardBytes = 256 * 1024;  // only address space
constexpr std::size_t kRoom = kStaticBytes + kDynamicBytes + kGuardBytes;
// Each variable begins at a whole row of the 32 banks of 4 bytes, and has as much space after it.
constexpr std::size_t kAlignment = 128;
static_assert(kSharedBytesOptIn <= kDynamicBytes);

struct Variable {
  std::size_t place, bytes;
  const SharedShape* shape;
};
constexpr int kMaxVariables = 4096;
Variable variables[kMaxVariables];
std::atomic<int> variable_count{0};  // grows once the variable stands in the array
std::mutex placing;

}  // namespace

const std::size_t kSharedRoom = kStaticBytes + kDynamicBytes;

std::size_t place_shared_variable(const SharedShape& shape, std::size_t bytes,
                                  std::atomic<std::size_t>* place_found) {
  const OutsideKernelCode outside;
  const std::lock_guard lock(placing);
  if (*place_found != kNoPlace) return *place_found;
  const int count = variable_count;
  std::size_t place = 0;
  if (count > 0) {
    const Variable& last = variables[count - 1];
    place = (last.place + last.bytes) / kAlignment * kAlignment + kAlignment;
  }
  if (count == kMaxVariables || place + bytes + kAlignment > kStaticBytes) {
    fail({"other"}, "the program's kernels have too many shared variables: over 1 MiB");
  }
  variables[count] = {place, bytes, &shape};
  variable_count = count + 1;
  if (shared_memory) std::memset(shared_memory + place, 0xff, bytes);  // of the block that runs
  return *place_found = place;
}

std::size_t shared_variable_bytes() {
  std::size_t bytes = 0;
  for (int k = 0; k < variable_count; ++k) bytes += variables[k].bytes;
  return bytes;
}

char* reserve_shared_memory() {
  char* shared = map_between_guards(0, kBytesBefore + kSharedRoom, kGuardBytes);
  if (!shared) fail({"other"}, "no memory for a block's shared memory: ", std::strerror(errno));
  return shared + kBytesBefore;
}

void release_shared_memory(char* shared) { munmap(shared - kBytesBefore, kBytesBefore + kRoom); }

char* fill_shared_memory(char* shared, std::size_t dynamic_bytes) {
  for (int k = 0; k < variable_count.load(std::memory_order_acquire); ++k) {
    std::memset(shared + variables[k].place, 0xff, variables[k].bytes);
  }
  char* end = shared + kStaticBytes + kDynamicBytes;
  char* dynamic = end - (dynamic_bytes + 15) / 16 * 16;
  if (dynamic_bytes > 0) std::memset(dynamic, 0xff, end - dynamic);
  return dynamic;
}

std::size_t bytes_before_shared(const char* shared, const void* address) {
  const char* p = static_cast<const char*>(address);
  return p < shared && p >= shared - kBytesBefore ? shared - p : 0;
}

std::optional<std::size_t> shared_offset(const char* shared, const void* address) {
  const char* p = static_cast<const char*>(address);
  if (p < shared || p >= shared + kRoom) return {};
  return p - shared;
}

std::string describe_shared(std::size_t offset) {
  const std::size_t dynamic = dynamic_shared_memory - shared_memory;
  if (offset >= dynamic) {
    return joined("byte ", offset - dynamic, " of the launch's dynamic part");
  }
  int k = variable_count - 1;
  while (k > 0 && variables[k].place > offset) --k;
  const SharedShape& shape = *variables[k].shape;
  std::string index;
  std::size_t element = (offset - variables[k].place) / shape.element_bytes;
  for (int b = shape.bounds - 1; b >= 0; --b) {
    index = joined("[", element % shape.bound[b], "]", index);
    element /= shape.bound[b];
  }
  return shape.name + index;
}

void check_shared(std::size_t offset, std::size_t bytes, const char* does, const Site& site) {
  const Block& block = *Block::current();
  const std::size_t dynamic = dynamic_shared_memory - shared_memory;
  if (offset >= dynamic) {
    const std::size_t given = block.kernel().config.shared_bytes;
    if (offset + bytes <= dynamic + given) return;
    Report report = block.report("dynamic_shared", site.line());
    report.bytes = static_cast<long>(given);
    block.fail_in_thread(report, does, " byte ", std::max(offset - dynamic, given),
                         " of the dynamic shared memory, but the launch gives ", given,
                         " bytes of it, the value after its grid and its block");
  }
  if (offset >= kStaticBytes) {
    Report report = block.report("shared_before", site.line());
    report.access = does;
    block.fail_in_thread(report, does, " shared memory ", dynamic - offset,
                         " bytes before the launch's dynamic part");
  }
  std::size_t end = 0;
  for (int k = 0; k < variable_count && variables[k].place <= offset; ++k) {
    end = variables[k].place + variables[k].bytes;
  }
  if (offset + bytes <= end) return;
  Report report = block.report("shared_end", site.line());
  report.access = does;
  block.fail_in_thread(report, does, " shared memory ",
                       offset > end ? joined(offset - end, " bytes") : "just",
                       " past the end of a variable");
}

void fail_before_shared(std::size_t bytes, const char* does, const Site& site) {
  const Block& block = *Block::current();
  Report report = block.report("shared_before", site.line());
  report.access = does;
  block.fail_in_thread(report, does, " shared memory ", bytes, " bytes before its first variable");
}

}  // namespace cuda_on_cpu
