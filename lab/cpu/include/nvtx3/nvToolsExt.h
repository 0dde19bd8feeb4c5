#pragma once
// NVTX ranges and marks without the CUDA Toolkit: the same names and headers as NVTX 3, and
// instead of a profiler a table of the ranges at the program's end, if LAB_NVTX=1 is set; and rows
// of a trace in the file that LAB_TRACE_TSV names. One thread.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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
    if (wanted_) open_.push_back({name, Clock::now()});
    return static_cast<int>(open_.size()) - 1;
  }

  /// Closes the range opened last; returns how many are left open, or a negative number if none
  /// was.
  int pop() {
    if (open_.empty()) return -2;
    close(open_.back());
    open_.pop_back();
    return static_cast<int>(open_.size());
  }

  /// Opens a range that may end after others that began later; returns its number.
  std::uint64_t start(const char* name) {
    if (wanted_) started_[++last_started_] = {name, Clock::now()};
    return last_started_;
  }
  void end(std::uint64_t number) {
    const auto range = started_.find(number);
    if (range == started_.end()) return;
    close(range->second);
    started_.erase(range);
  }

  /// A mark counts as a range that took no time.
  void mark(const char* name) {
    if (wanted_) ++totals_[name].count;
  }

  ~Ranges() {
    if (const char* path = std::getenv("LAB_TRACE_TSV"); path && *path) write(path);
    if (totals_.empty() || !set("LAB_NVTX")) return;
    std::fprintf(stderr, "%12s %8s %12s %12s  range\n", "total ms", "count", "mean ms", "max ms");
    for (const auto& [name, total] : totals_) {
      std::fprintf(stderr, "%12.3f %8d %12.5f %12.5f  %s\n", total.ms, total.count,
                   total.ms / total.count, total.max, name.c_str());
    }
  }

 private:
  struct Open {
    std::string name;
    Clock::time_point start;
  };
  struct Total {
    int count = 0;
    double ms = 0, max = 0;
  };

  void close(const Open& range) {
    const double ms = std::chrono::duration<double, std::milli>(Clock::now() - range.start).count();
    Total& total = totals_[range.name];
    ++total.count;
    total.ms += ms;
    if (ms > total.max) total.max = ms;
  }

  /// Appends to what else is known of the program, in the tracer's columns.
  void write(const char* path) const {
    using cuda_on_cpu::TraceRow;
    std::string lines;
    for (const auto& [name, total] : totals_) {
      TraceRow row;
      row.table = "nvtx";
      row.name = name;
      row.count = total.count;
      row.total_ns = 1e6 * total.ms;
      row.mean_ns = row.median_ns = row.total_ns / row.count;
      row.max_ns = 1e6 * total.max;
      lines += row_of(row);
    }
    for (const Open& range : open_) {
      TraceRow row;
      row.table = "open";
      row.name = range.name;
      row.count = 1;
      lines += row_of(row);
    }
    if (!cuda_on_cpu::append(path, lines, heading_of(TraceRow()))) {
      std::fprintf(stderr, "LAB_TRACE_TSV=%s: cannot be written\n", path);
    }
  }

  static bool set(const char* name) {
    const char* value = std::getenv(name);
    return value && *value && std::strcmp(value, "0") != 0;
  }

  bool wanted_ = set("LAB_NVTX") || set("LAB_TRACE_TSV");
  std::vector<Open> open_;
  std::map<std::uint64_t, Open> started_;
  std::uint64_t last_started_ = 0;
  std::map<std::string, Total> totals_;
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

using nvtxRangeId_t = std::uint64_t;
__attribute__((noinline)) inline nvtxRangeId_t nvtxRangeStartA(const char* name) {
  return cuda_on_cpu::nvtx::Ranges::instance().start(name);
}
__attribute__((noinline)) inline void nvtxRangeEnd(nvtxRangeId_t range) {
  cuda_on_cpu::nvtx::Ranges::instance().end(range);
}
__attribute__((noinline)) inline void nvtxMarkA(const char* name) {
  cuda_on_cpu::nvtx::Ranges::instance().mark(name);
}
#define nvtxRangeStart nvtxRangeStartA
#define nvtxMark nvtxMarkA

// Ranges with attributes. What counts here is the message; colour, category and payload are taken,
// and of no use.

#define NVTX_VERSION 3
enum nvtxColorType_t { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 };
enum nvtxMessageType_t { NVTX_MESSAGE_UNKNOWN = 0, NVTX_MESSAGE_TYPE_ASCII = 1 };
enum nvtxPayloadType_t {
  NVTX_PAYLOAD_UNKNOWN = 0,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
  NVTX_PAYLOAD_TYPE_INT64 = 2,
  NVTX_PAYLOAD_TYPE_DOUBLE = 3,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
  NVTX_PAYLOAD_TYPE_INT32 = 5,
  NVTX_PAYLOAD_TYPE_FLOAT = 6,
};
union nvtxMessageValue_t {
  const char* ascii;
};
struct nvtxEventAttributes_t {
  std::uint16_t version, size;
  std::uint32_t category;
  std::int32_t colorType;
  std::uint32_t color;
  std::int32_t payloadType, reserved0;
  union {
    std::uint64_t ullValue;
    std::int64_t llValue;
    double dValue;
    std::uint32_t uiValue;
    std::int32_t iValue;
    float fValue;
  } payload;
  std::int32_t messageType;
  nvtxMessageValue_t message;
};
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE (static_cast<std::uint16_t>(sizeof(nvtxEventAttributes_t)))

namespace cuda_on_cpu::nvtx {
inline const char* message(const nvtxEventAttributes_t* event) {
  return event->messageType == NVTX_MESSAGE_TYPE_ASCII && event->message.ascii
             ? event->message.ascii
             : "";
}
/// As profilers have it: "domain:name".
struct Domain {
  std::string name;
  std::string of(const nvtxEventAttributes_t* event) const { return name + ":" + message(event); }
};
}  // namespace cuda_on_cpu::nvtx

inline int nvtxRangePushEx(const nvtxEventAttributes_t* event) {
  return nvtxRangePushA(cuda_on_cpu::nvtx::message(event));
}
inline nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t* event) {
  return nvtxRangeStartA(cuda_on_cpu::nvtx::message(event));
}
inline void nvtxMarkEx(const nvtxEventAttributes_t* event) {
  nvtxMarkA(cuda_on_cpu::nvtx::message(event));
}
inline void nvtxNameCategoryA(std::uint32_t, const char*) {}
#define nvtxNameCategory nvtxNameCategoryA

// Domains. All share one stack of open ranges.
using nvtxDomainHandle_t = cuda_on_cpu::nvtx::Domain*;
inline nvtxDomainHandle_t nvtxDomainCreateA(const char* name) {
  return new cuda_on_cpu::nvtx::Domain{name};
}
#define nvtxDomainCreate nvtxDomainCreateA
inline void nvtxDomainDestroy(nvtxDomainHandle_t domain) { delete domain; }
inline int nvtxDomainRangePushEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  return nvtxRangePushA(domain->of(event).c_str());
}
inline int nvtxDomainRangePop(nvtxDomainHandle_t) { return nvtxRangePop(); }
inline nvtxRangeId_t nvtxDomainRangeStartEx(nvtxDomainHandle_t domain,
                                            const nvtxEventAttributes_t* event) {
  return nvtxRangeStartA(domain->of(event).c_str());
}
inline void nvtxDomainRangeEnd(nvtxDomainHandle_t, nvtxRangeId_t range) { nvtxRangeEnd(range); }
inline void nvtxDomainMarkEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  nvtxMarkA(domain->of(event).c_str());
}
