#include "activity.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <string>

#include <unistd.h>

#include <cuda_on_cpu/program.h>
#include <cuda_on_cpu/rows.h>
#include <cuda_on_cpu/trace_row.h>

#include "report.h"

namespace cuda_on_cpu {
namespace {

std::string shape(dim3 v) { return joined(v.x, "x", v.y, "x", v.z); }

// From the first managed memory to the end. Before that the library makes its own objects, and
// what they copy also comes through note_host_access.
bool count_host_accesses = false;

/// A table, a name in it, and what else makes it a row of its own: a kernel that is launched in
/// another shape is another row.
using Key = std::array<std::string, 3>;

struct Activity {
  const std::string path = std::getenv("LAB_TRACE_TSV") ? std::getenv("LAB_TRACE_TSV") : "";
  std::map<Key, TraceRow> rows;
  std::map<std::string, std::vector<const void*>> last_pointers;  // by the line of the launch

  bool wanted() const { return !path.empty(); }

  TraceRow* row(const Key& key) {
    if (!wanted()) return nullptr;
    TraceRow& row = rows[key];
    row.table = key[0];
    row.name = key[1];
    ++row.count;
    return &row;
  }

  ~Activity() {
    count_host_accesses = false;
    std::string lines;
    for (const auto& [key, row] : rows) lines += row_of(row);
    if (rows.empty() || append(path, lines, TraceRow::kHeading)) return;
    warn({"other"}, joined("LAB_TRACE_TSV=", path, ": cannot be written"));
    _exit(kExitCannotWrite);
  }
};

Activity& activity() {
  static Activity activity;
  return activity;
}

const char* name_of(Space space) {
  constexpr const char* kNames[] = {"device", "managed", "pinned"};
  return kNames[static_cast<int>(space)];
}

const char* name_of_memory(const void* p) {
  const Allocation* a = find_allocation(p);
  return a ? name_of(a->space) : "pageable";
}

}  // namespace

void note(const char* table, const std::string& name, std::size_t bytes) {
  if (TraceRow* row = activity().row({table, name, ""})) row->bytes += static_cast<double>(bytes);
}

void note_launch(const LaunchConfig& config, const std::vector<PointerArgument>& pointers) {
  if (!activity().wanted()) return;
  std::vector<const void*> now;
  for (const PointerArgument& argument : pointers) now.push_back(argument.pointer);
  const auto [known, is_new] = activity().last_pointers.try_emplace(text(config.where), now);
  if (!is_new && known->second != now) activity().row({"arguments", "other pointers", ""});
  known->second = now;
}

void note_kernel(const LaunchConfig& config, std::size_t static_shared) {
  const std::string grid = shape(config.grid), block = shape(config.block);
  const std::string dynamic = std::to_string(config.shared_bytes);
  TraceRow* row =
      activity().row({"kernels", text(config.where), grid + " " + block + " " + dynamic});
  if (!row) return;
  row->grid = grid;
  row->block = block;
  row->dynamic_shared = dynamic;
  row->static_shared = std::to_string(
      std::max<std::size_t>(static_shared, std::strtoull(row->static_shared.c_str(), nullptr, 10)));
}

void note_allocation(Space space, std::size_t bytes) {
  note("allocations", name_of(space), bytes);
  if (space == Space::managed) count_host_accesses = activity().wanted();
}

void note_release(Space space) { note("frees", name_of(space)); }

void note_copy(const void* to, const void* from, std::size_t bytes) {
  note("copies", joined("memcpy ", name_of_memory(from), " to ", name_of_memory(to)), bytes);
}

void note_host_access(const void* p) {
  if (!count_host_accesses) return;
  // The fields are filled point by point: most accesses go to the allocation of the one before.
  static const Allocation* last = nullptr;
  static TraceRow* row = nullptr;
  if (last && !last->freed && p >= last->begin && p < last->end()) {
    if (row) ++row->count;
    return;
  }
  const Allocation* a = find_allocation(p);
  if (!a || a->freed || p >= a->end() || a->space != Space::managed) return;
  last = a;
  row = activity().row({"host accesses", text(a->origin.where), ""});
}

void note_library(const char* name, std::size_t bytes) { note("libraries", name, bytes); }

}  // namespace cuda_on_cpu
