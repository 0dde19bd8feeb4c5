#pragma once
// NVTX ranges without the CUDA Toolkit: the same names and headers as NVTX 3, and
// instead of a profiler rows of a trace in the file that LAB_TRACE_TSV names. One thread.

#include <cstdint>

/// Opens a range inside those that are open; returns their number.
int nvtxRangePushA(const char* name);
/// Closes the range opened last; returns how many are left open, or a negative number if none was.
int nvtxRangePop();
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
