#include "activity.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "report.h"

namespace cuda_on_cpu {
static std::string shape(dim3 v) { return joined(v.x, "x", v.y, "x", v.z); }

static const char* name_of_memory(const void* p) {
  const Allocation* a = find_allocation(p);
  return a ? name_of(a->space) : "pageable";
}

void note_launch(const LaunchConfig& config, const std::vector<PointerArgument>& pointers) {
  static auto& last_pointers = *new std::map<std::string, std::vector<const void*>>;  // by the line
  if (!trace_is_wanted()) return;
  std::vector<const void*> now;
  for (const PointerArgument& argument : pointers) {
    if (!argument.member) now.push_back(argument.pointer);
  }
  const auto [known, is_new] = last_pointers.try_emplace(text(config.where), now);
  if (!is_new && known->second != now) note("arguments", "other pointers");
  known->second = now;
}

void note_kernel(const LaunchConfig& config, std::size_t static_shared) {
  const std::string grid = shape(config.grid), block = shape(config.block);
  const std::string dynamic = std::to_string(config.shared_bytes);
  TraceRow* row = note("kernels", text(config.where), 0, grid + " " + block + " " + dynamic);
  if (!row) return;
  row->grid = grid;
  row->block = block;
  row->dynamic_shared = dynamic;
  row->static_shared = std::to_string(
      std::max<std::size_t>(static_shared, std::strtoull(row->static_shared.c_str(), nullptr, 10)));
}

const char* name_of(Space space) {
  constexpr const char* kNames[] = {"device", "managed", "pinned"};
  return kNames[static_cast<int>(space)];
}

void note_copy(const void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  const bool by_host = kind == cudaMemcpyHostToHost;
  note("copies",
       joined("memcpy ", by_host ? "host" : name_of_memory(from), " to ",
              by_host ? "host" : name_of_memory(to)),
       bytes);
}

void note_host_access(const void* p) {
  // The fields are filled point by point: most accesses go to the allocation of the one before.
  static const Allocation* last = nullptr;
  static TraceRow* row = nullptr;
  if (last && last->holds(p)) {
    if (row) ++row->count;
    return;
  }
  const Allocation* a = find_allocation(p);
  if (!a || !a->holds(p) || a->space != Space::managed) return;
  last = a;
  row = note("host accesses", text(a->origin.where));
  if (row) row->bytes = a->bytes;
}

void note_library(const char* name, std::size_t bytes) { note("libraries", name, bytes); }

}  // namespace cuda_on_cpu
