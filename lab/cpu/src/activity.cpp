#include "activity.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include <unistd.h>

#include <lab/exit_codes.h>

#include "report.h"

namespace cuda_on_cpu {
namespace {

struct Row {
  std::uint64_t count = 0;
  double bytes = 0;
  std::string shape;  // a kernel's columns: grid, block, registers, shared and local memory
  std::size_t static_shared = 0;
};

std::string shape(dim3 v) {
  return std::to_string(v.x) + "x" + std::to_string(v.y) + "x" + std::to_string(v.z);
}

// From the first managed memory to the end. Before that the library makes its own objects, and
// what they copy comes by note_host_access, too.
bool count_host_accesses = false;

/// By table and name, and a kernel's shape: one that is launched in another shape is another row.
class Activity {
 public:
  ~Activity() {
    count_host_accesses = false;
    if (rows_.empty() || write()) return;
    warn({"other"}, "LAB_TRACE_TSV=%s: cannot be written", path_.c_str());
    _exit(lab::kExitCannotWrite);
  }

  struct Key {
    std::string table, name, shape;
    std::size_t dynamic_shared = 0;
    auto operator<=>(const Key&) const = default;
  };

  bool wanted() const { return !path_.empty(); }

  Row* row(const Key& key) {
    if (!wanted()) return nullptr;
    Row& row = rows_[key];
    ++row.count;
    return &row;
  }

 private:
  bool write() const {
    std::FILE* file = std::fopen(path_.c_str(), "a");
    if (!file) return false;
    for (const auto& [key, row] : rows_) {
      std::fprintf(file, "%s\t%s\t%llu\t0\t0\t0\t0\t0\t0\t%.0f\t", key.table.c_str(),
                   key.name.c_str(), static_cast<unsigned long long>(row.count), row.bytes);
      if (key.shape.empty()) {
        std::fprintf(file, "-\t-\t-\t-\t-\t-\n");
      } else {
        std::fprintf(file, "%s\t0\t%zu\t%zu\t0\n", key.shape.c_str(), row.static_shared,
                     key.dynamic_shared);
      }
    }
    const bool written = !std::ferror(file);
    return std::fclose(file) == 0 && written;
  }

  const std::string path_ = std::getenv("LAB_TRACE_TSV") ? std::getenv("LAB_TRACE_TSV") : "";
  std::map<Key, Row> rows_;
};

Activity& activity() {
  static Activity activity;
  return activity;
}

const char* name_of(Space space) {
  switch (space) {
    case Space::device:
      return "device";
    case Space::managed:
      return "managed";
    case Space::pinned:
      break;
  }
  return "pinned";
}

const char* name_of_memory(const void* p) {
  const Allocation* a = find_allocation(p);
  return a ? name_of(a->space) : "pageable";
}

void add(const char* table, const std::string& name, std::size_t bytes) {
  if (Row* row = activity().row({table, name, "", 0})) row->bytes += static_cast<double>(bytes);
}

}  // namespace

void note_launch(const LaunchConfig& config, const std::vector<PointerArgument>& pointers) {
  static std::map<std::string, std::vector<const void*>>& last =
      *new std::map<std::string, std::vector<const void*>>;
  if (!activity().wanted()) return;
  std::vector<const void*> now;
  for (const PointerArgument& argument : pointers) now.push_back(argument.pointer);
  const auto [known, is_new] = last.try_emplace(text(config.where), now);
  if (!is_new && known->second != now) activity().row({"arguments", "other pointers", "", 0});
  known->second = now;
}

void note_kernel(const LaunchConfig& config, std::size_t static_shared) {
  const std::string shapes = shape(config.grid) + "\t" + shape(config.block);
  Row* row = activity().row({"kernels", text(config.where), shapes, config.shared_bytes});
  if (row) row->static_shared = std::max(row->static_shared, static_shared);
}

void note_allocation(Space space, std::size_t bytes) {
  add("allocations", name_of(space), bytes);
  if (space == Space::managed) count_host_accesses = activity().wanted();
}

void note_release(Space space) { add("frees", name_of(space), 0); }

void note_copy(const void* to, const void* from, std::size_t bytes) {
  add("copies", std::string("memcpy ") + name_of_memory(from) + " to " + name_of_memory(to), bytes);
}

void note_fill(std::size_t bytes) { add("copies", "memset", bytes); }

void note_host_access(const void* p) {
  if (!count_host_accesses) return;
  // The fields are filled point by point: most accesses go to the allocation of the one before.
  static const Allocation* last = nullptr;
  static Row* row = nullptr;
  if (last && !last->freed && p >= last->begin && p < last->end()) {
    if (row) ++row->count;
    return;
  }
  const Allocation* a = find_allocation(p);
  if (!a || a->freed || p >= a->end() || a->space != Space::managed) return;
  last = a;
  row = activity().row({"host accesses", text(a->allocated_at), "", 0});
}

void note_library(const char* name, std::size_t bytes) { add("libraries", name, bytes); }

void note_beside(const char* what, bool has_kernel) {
  add(has_kernel ? "beside a kernel" : "beside no kernel", what, 0);
}

void note_handed_over(const char* what) { add("handed over", what, 0); }

void note_wait(bool has_kernels_left) {
  add("waits", has_kernels_left ? "kernels left" : "no kernels left", 0);
}

}  // namespace cuda_on_cpu
