#include "memory/memory.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cuda_on_cpu/machine.h>
#include <cuda_on_cpu/program.h>

#include "activity.h"
#include "error.h"
#include "report.h"
#include "run/block.h"
#include "run/queue.h"
#include "watch/watcher.h"

namespace cuda_on_cpu {
namespace {

constexpr std::size_t kPage = 4096;
// What is left of the last page is filled with this, and looked at after each kernel.
constexpr unsigned char kPadding = 0xff;
// If every access is looked at, memory can begin where a GPU's would, and sectors of 32 bytes are
// counted right. Else it ends as near to the page that cannot be touched as the widest load allows
// (float4).
std::size_t alignment() { return watcher() ? 256 : 16; }

// By the first byte of the guard. Made when it is first asked for, which a watched program may do
// before main; it outlives every other object of the program: it is looked at when that ends.
std::map<const char*, Allocation>& allocations() {
  static auto& allocations = *new std::map<const char*, Allocation>;
  return allocations;
}

std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

/// Eight times the address space of the memory itself: an index some rows too high does not land in
/// the memory next door, nor does a pointer that was moved back by the rows of other ranks.
std::size_t choose_guard(std::size_t data_bytes) {
  if (address_space_is_limited()) return kPage;
  return std::clamp(8 * data_bytes, std::size_t{64} << 10, std::size_t{4} << 30);
}

/// Whether `p` is a null pointer, or one with an index.
bool is_near_null(const void* p) { return reinterpret_cast<std::uintptr_t>(p) < (64 << 10); }

/// "40000 bytes that cudaMalloc gave at jacobi.cu:50"
std::string describe(const Allocation& a) {
  return joined(a.bytes, " bytes that ", a.origin.call, " gave at ", a.origin.where);
}

/// How far before the allocation the address lies, or past its end; 0 inside.
std::ptrdiff_t distance(const Allocation& a, const void* p) {
  const char* address = static_cast<const char*>(p);
  return address < a.begin ? a.begin - address : address >= a.end() ? address - a.end() : 0;
}

}  // namespace

bool address_space_is_limited() {
  rlimit limit{};
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

char* map_between_guards(std::size_t before, std::size_t bytes, std::size_t after) {
  void* map = mmap(nullptr, before + bytes + after, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) return nullptr;
  char* begin = static_cast<char*>(map) + before;
  return mprotect(begin, bytes, PROT_READ | PROT_WRITE) == 0 ? begin : nullptr;
}

Allocation* nearest_allocation(const void* p) {
  // Each has addresses of its own, which stay taken when it is freed.
  auto next = allocations().upper_bound(static_cast<const char*>(p));
  if (next == allocations().begin()) return nullptr;
  Allocation& a = std::prev(next)->second;
  return p < a.data + a.data_bytes + a.guard_bytes ? &a : nullptr;
}

Allocation* find_allocation(const void* p) {
  Allocation* a = nearest_allocation(p);
  return a && p >= a->begin && p <= a->end() ? a : nullptr;
}

std::string describe_address(const void* p) {
  const Allocation* a = nearest_allocation(p);
  if (!p) return "a null pointer";
  if (is_near_null(p)) {
    return joined(reinterpret_cast<std::uintptr_t>(p), " bytes past a null pointer");
  }
  if (!a) {
    char words[64];
    std::snprintf(words, sizeof words, "%p, where nothing was allocated", p);
    return words;
  }
  const std::string bytes = joined(distance(*a, p), " bytes ");
  const std::string place = p < a->begin ? bytes + "before"
                            : p < a->end()
                                ? joined("byte ", static_cast<const char*>(p) - a->begin, " of")
                            : p == a->end() ? "just past the end of"
                                            : bytes + "past the end of";
  return joined(place, " the ", describe(*a),
                a->freed ? " and that were freed at " + text(a->freed_at) : "");
}

Report report_access(const char* kind, Where where, const char* access, const void* p) {
  const Block* block = Block::current();
  Report report = block ? block->report(kind, where) : cuda_on_cpu::report(kind, where);
  report.access = access;
  const Allocation* a = nearest_allocation(p);
  if (is_near_null(p)) {
    report.place = "null";
  } else if (!a) {
    report.place = "nowhere";
  } else {
    report.place = p < a->begin ? "before" : p >= a->end() ? "past" : "inside";
    report.distance = distance(*a, p);
    if (a->freed) report.flags = "freed";
    report.allocated_line = a->origin.where.line;
    report.bytes = static_cast<long>(a->bytes);
  }
  return report;
}

cudaError_t allocate(void** pointer, std::size_t bytes, Space space, Where where,
                     const char* call) {
  if (!pointer) return error(cudaErrorInvalidValue, "no pointer to write to");
  handle_faults();
  if (bytes == 0) {
    *pointer = nullptr;
    return cudaSuccess;
  }
  const std::size_t available = available_memory();
  if (bytes > available) {
    char words[64];
    std::snprintf(words, sizeof words, "%.1f GB asked for, %.1f GB free", 1e-9 * bytes,
                  1e-9 * available);
    return error(cudaErrorMemoryAllocation, words);
  }
  Allocation a{};
  a.data_bytes = round_up(bytes, kPage);
  a.guard_bytes = choose_guard(a.data_bytes);
  a.data = map_between_guards(a.guard_bytes, a.data_bytes, a.guard_bytes);
  if (!a.data) return error(cudaErrorMemoryAllocation, std::strerror(errno));
  a.begin = a.data + a.data_bytes - round_up(bytes, alignment());
  a.bytes = bytes;
  a.space = space;
  constexpr const char* kCalls[] = {"cudaMalloc", "cudaMallocManaged", "cudaMallocHost"};
  a.origin = Origin::now(call ? call : kCalls[static_cast<int>(space)], where);
  a.protection = PROT_READ | PROT_WRITE;
  std::memset(a.data, kPadding, a.data_bytes);
  allocations()[a.data - a.guard_bytes] = a;
  note("allocations", name_of(space), bytes);
  if (space == Space::device) close_memory_to_host();
  *pointer = a.begin;
  return cudaSuccess;
}

static void give_back(Allocation& a, Where where) {
  a.freed = true;
  note("frees", name_of(a.space));
  a.freed_at = where;
  // The addresses stay taken and closed; the memory goes back.
  void* closed = mmap(a.data, a.data_bytes, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (closed == MAP_FAILED) {
    fail(report("other", where), "memory cannot be freed: ", std::strerror(errno));
  }
  a.words.reset();
}

cudaError_t release(void* pointer, bool pinned, Where where) {
  if (!pointer) return cudaSuccess;
  if (auto e = cudaDeviceSynchronize()) return e;
  Allocation* found = find_allocation(pointer);
  if (!found || pointer != found->begin) {
    return error(cudaErrorInvalidValue, "the pointer is ", describe_address(pointer));
  }
  if (found->freed) {
    return error_because({"freed"}, cudaErrorInvalidValue, "freed already at ", found->freed_at);
  }
  if (pinned != (found->space == Space::pinned)) {
    return error(cudaErrorInvalidValue, "memory of ", found->origin.call, " needs ",
                 pinned ? "cudaFree" : "cudaFreeHost");
  }
  give_back(*found, where);
  return cudaSuccess;
}

void release_all(Where where) {
  for (auto& [guard, a] : allocations()) {
    if (!a.freed) give_back(a, where);
  }
}

static void protect(Allocation& a, int protection) {
  if (a.freed || a.protection == protection) return;
  if (mprotect(a.data, a.data_bytes, protection) != 0) {
    fail({"other"}, "the ", describe(a), " cannot be opened or closed: ", std::strerror(errno));
  }
  a.protection = protection;
}

/// What a copy or a fill uses of the memory that `p` points into; nothing of ordinary host memory.
static void add_use(const void* p, std::size_t bytes, bool writable, std::vector<Use>* uses) {
  if (const Allocation* a = find_allocation(p)) {
    uses->push_back({a, writable, static_cast<const char*>(p), bytes});
  }
}

void open_memory(Allocation* a) { protect(*a, PROT_READ | PROT_WRITE); }

void open_all_memory() {
  for (auto& [guard, a] : allocations()) protect(a, PROT_READ | PROT_WRITE);
}

void close_memory_to_host() {
  for (auto& [guard, a] : allocations()) {
    int protection = PROT_READ | PROT_WRITE;
    const QueuedUse use = queued_use(&a, nullptr);
    if (use.where) protection = use.writable ? PROT_NONE : PROT_READ;
    if (a.space == Space::device) protection = PROT_NONE;
    protect(a, protection);
  }
}

void check_padding(bool by_host, Where launched_at) {
  const auto holds_padding = [](const char* begin, const char* end) {
    return std::all_of(begin, end, [](unsigned char c) { return c == kPadding; });
  };
  for (const auto& [guard, a] : allocations()) {
    if (a.freed) continue;
    const bool past = !holds_padding(a.end(), a.data + a.data_bytes);
    if (past || !holds_padding(a.data, a.begin)) {
      const Report report{.kind = "padding",
                          .place = past ? "past" : "before",
                          .allocated_line = a.origin.where.line,
                          .bytes = static_cast<long>(a.bytes),
                          .other_line = launched_at.line,
                          .flags = by_host ? "host" : ""};
      fail(report,
           by_host ? "host code, before the kernel launched at " : "the kernel launched at ",
           launched_at, by_host ? ", wrote " : " wrote ", past ? "past the end of" : "before",
           " the ", describe(a));
    }
  }
}

Origin Origin::now(const char* call, Where where) {
  return {call, where, program.rounds ? program.rounds() : 0};
}

int report_growth() {
  constexpr std::size_t kRounds = 3;  // in fewer a program may get all that it needs
  std::vector<Origin> live = live_handles();
  for (const auto& [guard, a] : allocations()) {
    if (!a.freed) live.push_back(a.origin);
  }
  std::map<std::pair<Where, std::string>, std::multiset<int>> growth;  // in which rounds it was got
  for (const Origin& origin : live) growth[{origin.where, origin.call}].insert(origin.round);
  int count = 0;
  for (const auto& [place, rounds] : growth) {
    if (std::set<int>(rounds.begin(), rounds.end()).size() < kRounds) continue;
    const auto& [where, call] = place;
    warn(report("growth", where), joined("allocated here in every ", program.round, ", ",
                                         rounds.size(), " times, and never freed (", call, ")"));
    ++count;
  }
  return count;
}

// ---- copies -------------------------------------------------------------------------------------

/// Whether all that a copy or a fill uses from `p` on, which `words` tell, is allocated.
static cudaError_t check_room(const void* p, std::size_t bytes, const char* what,
                              const std::string& words) {
  const Allocation* a = find_allocation(p);
  if (!a || a->freed || a->holds(p, bytes)) return cudaSuccess;
  const std::ptrdiff_t room = a->end() - static_cast<const char*>(p);
  const std::string of_all = p == a->begin ? "" : joined(" of the ", a->bytes);
  const std::string has = room > 0 ? joined(" has room for only ", room, of_all)
                                   : joined(" begins at the end of the ", a->bytes);
  return error_because(
      {.kind = "room", .place = what, .allocated_line = a->origin.where.line, .bytes = room},
      cudaErrorInvalidValue, words, ", but the ", what, has, " bytes, allocated at ",
      a->origin.where);
}

/// A pointer that one of cudaMemcpy's sides uses as `what`; if it cannot be that, says why.
static cudaError_t check_side(const void* p, std::size_t bytes, const char* what, bool as_host,
                              bool as_device) {
  const Allocation* a = find_allocation(p);
  if (a && a->freed) {
    return error(cudaErrorInvalidValue, "the ", what, " was freed at ", a->freed_at);
  }
  if (auto e = check_room(p, bytes, what, joined(bytes, " bytes"))) return e;
  if (as_host && a && a->space == Space::device) {
    return error_because({.kind = "direction", .place = what}, cudaErrorInvalidValue, "the ", what,
                         " is device memory, but the direction says host");
  }
  if (const Allocation* beside = as_device && !a ? nearest_allocation(p) : nullptr) {
    return error_because(
        {.kind = "room", .place = what, .allocated_line = beside->origin.where.line},
        cudaErrorInvalidValue, bytes, " bytes, but the ", what, " is ", describe_address(p));
  }
  if (as_device && !a) {
    return error_because({.kind = "host_memory", .place = what}, cudaErrorInvalidValue, "the ",
                         what, " is no memory of the GPU, but the direction says device");
  }
  return cudaSuccess;
}

/// Whether `p` points into memory of the host: pinned, or the program's own.
static bool is_host(const void* p) {
  const Allocation* a = find_allocation(p);
  return !a || a->space == Space::pinned;
}

cudaError_t check_device_memory(const void* p, std::size_t bytes, const char* what) {
  return check_side(p, bytes, what, false, true);
}

void written(void* p, std::size_t bytes) {
  if (watcher()) watcher()->memory_written(static_cast<char*>(p), bytes);
}

/// Queues a copy. The host `waits` for it, or may change what it is copied from at once.
static cudaError_t queue_copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                              cudaStream_t stream, bool waits, Where where) {
  if (bytes == 0) return cudaSuccess;
  const bool any = kind == cudaMemcpyDefault;
  const bool to_host = kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost;
  const bool from_host = kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice;
  if (auto e = check_side(to, bytes, "destination", !any && to_host, !any && !to_host)) return e;
  if (auto e = check_side(from, bytes, "source", !any && from_host, !any && !from_host)) return e;
  // What is read from ordinary host memory is read before an asynchronous call returns.
  std::vector<char> read_now;
  if (!waits && !find_allocation(from) && !is_capturing(stream)) {
    read_now.assign(static_cast<const char*>(from), static_cast<const char*>(from) + bytes);
  }
  std::vector<Use> uses;
  add_use(to, bytes, true, &uses);
  add_use(from, bytes, false, &uses);
  if (is_capturing(stream) && !find_allocation(to)) {
    uses.push_back({nullptr, true, static_cast<const char*>(to), bytes});
  }
  auto run = [=, read_now = std::move(read_now)] {
    std::memmove(to, read_now.empty() ? from : read_now.data(), bytes);
    note_copy(to, from, bytes, kind);
    written(to, bytes);
  };
  return enqueue(stream, where, std::move(run), std::move(uses), "copy");
}

/// Whether an asynchronous copy is done when the call returns. CUDA documents it so of a copy to
/// ordinary host memory, and of one within the host's memory. What a captured one copies to is
/// written when the graph runs.
static bool waits_by_itself(const void* to, const void* from, cudaStream_t stream) {
  return !is_capturing(stream) && is_host(to) && (is_host(from) || !find_allocation(to));
}

cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                 cudaStream_t stream, bool wait, Where where) {
  wait = wait || waits_by_itself(to, from, stream);
  if (auto e = queue_copy(to, from, bytes, kind, stream, wait, where)) return e;
  if (wait && bytes > 0) wait_for_stream(stream);
  return cudaSuccess;
}

cudaError_t fill(void* to, int value, std::size_t bytes, cudaStream_t stream, bool wait,
                 Where where) {
  if (bytes == 0) return cudaSuccess;
  if (auto e = check_side(to, bytes, "destination", false, true)) return e;
  std::vector<Use> uses;
  add_use(to, bytes, true, &uses);
  auto run = [=] {
    std::memset(to, value, bytes);
    note("copies", "memset", bytes);
    written(to, bytes);
  };
  if (auto e = enqueue(stream, where, std::move(run), std::move(uses), "fill")) return e;
  if (wait && find_allocation(to)->space != Space::device) wait_for_stream(stream);
  return cudaSuccess;
}

cudaError_t check_managed(const void* pointer, std::size_t bytes) {
  const Allocation* a = find_allocation(pointer);
  if (!a || !a->holds(pointer, bytes) || a->space != Space::managed) {
    return error(cudaErrorInvalidValue, bytes, " bytes from ", describe_address(pointer),
                 " are not managed memory");
  }
  return cudaSuccess;
}

cudaError_t copy_symbol(void* to, const void* from, std::size_t bytes, std::size_t offset,
                        std::size_t size_of_symbol) {
  if (offset > size_of_symbol || bytes > size_of_symbol - offset) {
    return error(cudaErrorInvalidValue, bytes, " bytes at byte ", offset,
                 ", but the symbol has only ", size_of_symbol);
  }
  if (auto e = cudaDeviceSynchronize()) return e;
  open_all_memory();
  std::memcpy(to, from, bytes);
  close_memory_to_host();
  written(to, bytes);
  return cudaSuccess;
}

const Allocation* check_argument(const PointerArgument& argument, const LaunchConfig& config) {
  if (!argument.pointer) return nullptr;
  // A pointer to a row before the first, say, is not wrong yet: what is accessed counts.
  const Allocation* a = nearest_allocation(argument.pointer);
  if (!a) host_argument(argument, config);
  if (a->freed) {
    fail(report("freed_argument", config.where), "argument ", argument.number,
         " of the launch points to memory that was freed at ", a->freed_at);
  }
  return a;
}

void host_argument(const PointerArgument& argument, const LaunchConfig& config) {
  Report report = cuda_on_cpu::report("host_argument", config.where);
  report.array = joined(argument.member ? "a member of argument " : "argument ", argument.number);
  fail(report, report.array,
       " of the launch points to no memory that a kernel can use: take memory from cudaMalloc or "
       "cudaMallocManaged");
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream, Where where) {
  if (width > to_pitch || width > from_pitch) {
    return error(cudaErrorInvalidPitchValue, "rows of ", width, " bytes do not fit in pitches of ",
                 to_pitch, " (to) and ", from_pitch, " bytes (from)");
  }
  const std::string rows = joined(height, " rows of ", width, " bytes");
  const auto from_pitches = [&](std::size_t pitch) { return (height - 1) * pitch + width; };
  if (height > 0) {
    if (auto e = check_room(to, from_pitches(to_pitch), "destination", rows)) return e;
    if (auto e = check_room(from, from_pitches(from_pitch), "source", rows)) return e;
  }
  const bool wait = waits_by_itself(to, from, stream);
  for (std::size_t row = 0; row < height; ++row) {
    if (auto e = queue_copy(static_cast<char*>(to) + row * to_pitch,
                            static_cast<const char*>(from) + row * from_pitch, width, kind, stream,
                            wait, where)) {
      return e;
    }
  }
  // Once for all rows: each wait opens and closes all memory.
  if (wait && width > 0 && height > 0) wait_for_stream(stream);
  return cudaSuccess;
}

cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind, Where where) {
  const cudaError_t result =
      cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, nullptr, where);
  if (result == cudaSuccess && width > 0 && height > 0) wait_for_stream(nullptr);
  return result;
}

cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  const std::size_t total = std::size_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  *free_bytes = std::min(available_memory(), total);
  *total_bytes = total;
  return cudaSuccess;
}
