#pragma once
// NVTX ranges without the CUDA Toolkit: the same names and headers as NVTX 3, and
// instead of a profiler rows of a trace in the file that LAB_TRACE_TSV names. One thread.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include <cuda_on_cpu/rows.h>
#include <cuda_on_cpu/trace_row.h>

namespace cuda_on_cpu::nvtx {

using Clock = std::chrono::steady_clock;

/// The ranges of this program: those that are open, and what each name has cost so far.
class Ranges {
 public:
  static Ranges& instance() {
    static Ranges ranges;
    return ranges;
  }

  /// Opens a range inside those that are open; returns their number, as nvtxRangePush does.
  int push(const char* name) {
    if (path_) open_.push_back({name, Clock::now()});
    return static_cast<int>(open_.size()) - 1;
  }

  /// Closes the range opened last; returns how many are left open, or a negative number if none
  /// was.
  int pop() {
    if (open_.empty()) return -2;
    const std::chrono::duration<double, std::nano> ns = Clock::now() - open_.back().start;
    TraceRow& row = ended_[open_.back().name];
    ++row.count;
    row.total_ns += ns.count();
    row.max_ns = std::max(row.max_ns, ns.count());
    open_.pop_back();
    return static_cast<int>(open_.size());
  }

  /// Appends to what else is known of the program, in the tracer's columns.
  ~Ranges() {
    if (!path_ || !*path_) return;
    std::string lines;
    const auto add = [&](TraceRow row, const char* table, const std::string& name) {
      row.table = table;
      row.name = name;
      row.mean_ns = row.median_ns = row.total_ns / row.count;
      lines += row_of(row);
    };
    TraceRow once;
    once.count = 1;
    for (const auto& [name, row] : ended_) add(row, "nvtx", name);
    for (const Open& range : open_) add(once, "open", range.name);
    if (!append(path_, lines, TraceRow::kHeading)) {
      std::fprintf(stderr, "LAB_TRACE_TSV=%s: cannot be written\n", path_);
    }
  }

 private:
  struct Open {
    std::string name;
    Clock::time_point start;
  };

  const char* path_ = std::getenv("LAB_TRACE_TSV");  // null: no trace is wanted
  std::vector<Open> open_;
  std::map<std::string, TraceRow> ended_;
};

}  // namespace cuda_on_cpu::nvtx

// Not to be inlined: the compiler is to see what it sees with the toolkit's NVTX, a call.
__attribute__((noinline)) inline int nvtxRangePushA(const char* name) {
  return cuda_on_cpu::nvtx::Ranges::instance().push(name);
}
__attribute__((noinline)) inline int nvtxRangePop() {
  return cuda_on_cpu::nvtx::Ranges::instance().pop();
}
#define nvtxRangePush nvtxRangePushA

// Ranges with attributes. What counts here is the message; the colour is taken, and of no use.

#define NVTX_VERSION 3
enum nvtxColorType_t { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 };
enum nvtxMessageType_t { NVTX_MESSAGE_UNKNOWN = 0, NVTX_MESSAGE_TYPE_ASCII = 1 };
struct nvtxEventAttributes_t {
  std::uint16_t version, size;
  std::uint32_t category;
  std::int32_t colorType;
  std::uint32_t color;
  std::int32_t messageType;
  struct {
    const char* ascii;
  } message;
};
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE (static_cast<std::uint16_t>(sizeof(nvtxEventAttributes_t)))

inline int nvtxRangePushEx(const nvtxEventAttributes_t* event) {
  return nvtxRangePushA(event->message.ascii ? event->message.ascii : "");
}
