// Listens to CUDA, by CUPTI. When a program starts CUDA up, the driver loads the library that
// CUDA_INJECTION64_PATH names and calls InitializeInjection.

#include "trace.h"

#include <cupti.h>
#include <cxxabi.h>

#include <atomic>
#include <cctype>
#include <cstddef>
#include <cstdlib>
#include <mutex>

namespace trace {
namespace {

// CUPTI's records, in the oldest layouts that have all that is read here: later ones only append.
using KernelRecord = CUpti_ActivityKernel4;
using CopyRecord = CUpti_ActivityMemcpy;
using AllocationRecord = CUpti_ActivityMemory2;
using MigrationRecord = CUpti_ActivityUnifiedMemoryCounter2;
using FillRecord = CUpti_ActivityMemset;
using ApiRecord = CUpti_ActivityAPI;

/// Never destroyed: CUPTI's own threads use it to the very end.
struct State {
  std::mutex mutex;
  Rows rows;
  std::vector<OnTimeLine> time_line;
  std::vector<std::string> remarks;
  std::size_t dropped = 0;
  std::atomic<bool> listening{false};
  std::atomic<bool> sees_migration{false};
};
State& state = *new State;

void remark(const std::string& what) {
  const std::lock_guard<std::mutex> lock(state.mutex);
  state.remarks.push_back(what);
}

bool succeeded(CUptiResult result, const char* what) {
  if (result == CUPTI_SUCCESS) return true;
  const char* why = "an unknown error";
  cuptiGetResultString(result, &why);
  remark(std::string(what) + ": " + why);
  return false;
}
#define SUCCEEDED(call) succeeded((call), #call)

// ---- records ------------------------------------------------------------------------------------

const char* name_of_memory(int kind) {
  constexpr const char* kNames[] = {"unknown", "pageable", "pinned",        "device",
                                    "array",   "managed",  "device static", "managed static"};
  return kind >= 0 && kind < 8 ? kNames[kind] : "other";
}

std::string demangled(const char* name) {
  int status = 0;
  char* text = name ? abi::__cxa_demangle(name, nullptr, nullptr, &status) : nullptr;
  const std::string result = status == 0 && text ? text : name ? name : "?";
  std::free(text);
  return result;
}

std::string shape(int x, int y, int z) {
  return std::to_string(x) + "x" + std::to_string(y) + "x" + std::to_string(z);
}

/// Counts one more event; nanoseconds from `start` to `end`.
void add(const char* table, const std::string& name, std::uint64_t start, std::uint64_t end,
         std::uint64_t bytes = 0) {
  find_row(&state.rows, table, name)
      .add(static_cast<double>(end - start), static_cast<double>(bytes));
}

void add_kernel(const KernelRecord& k) {
  const std::string name = demangled(k.name), grid = shape(k.gridX, k.gridY, k.gridZ),
                    block = shape(k.blockX, k.blockY, k.blockZ),
                    dynamic_shared = std::to_string(k.dynamicSharedMemory);
  // A kernel that is launched in another shape is another line.
  Row& row = find_row(&state.rows, "kernels", name, grid + " " + block + " " + dynamic_shared);
  row.columns.grid = grid;
  row.columns.block = block;
  row.columns.registers = std::to_string(k.registersPerThread);
  row.columns.static_shared = std::to_string(k.staticSharedMemory);
  row.columns.dynamic_shared = dynamic_shared;
  row.columns.local = std::to_string(k.localMemoryPerThread);
  row.add(static_cast<double>(k.end - k.start));
  state.time_line.push_back({k.start, k.end, name.rfind("ncclDevKernel_SendRecv", 0) == 0});
}

void add_call(const ApiRecord& call) {
  const char* name = nullptr;
  cuptiGetCallbackName(CUPTI_CB_DOMAIN_RUNTIME_API, call.cbid, &name);
  std::string text = name ? name : "?";
  // Without the version at its end: cudaMalloc_v3020.
  const std::size_t version = text.rfind("_v");
  if (version != std::string::npos && version + 2 < text.size() &&
      std::isdigit(static_cast<unsigned char>(text[version + 2]))) {
    text.resize(version);
  }
  add("calls", text, call.start, call.end);
}

void add_copy(const CopyRecord& c) {
  const std::string name =
      std::string("memcpy ") + name_of_memory(c.srcKind) + " to " + name_of_memory(c.dstKind);
  add("copies", name, c.start, c.end, c.bytes);
}

void add_fill(const FillRecord& f) { add("copies", "memset", f.start, f.end, f.bytes); }

void add_allocation(const AllocationRecord& a) {
  const bool frees = a.memoryOperationType != CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
  add(frees ? "frees" : "allocations", name_of_memory(a.memoryKind), 0, 0, frees ? 0 : a.bytes);
}

void add_migration(const MigrationRecord& m) {
  switch (m.counterKind) {
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD:
      return add("migration", "host to device", m.start, m.end, m.value);
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH:
      return add("migration", "device to host", m.start, m.end, m.value);
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT:
      return add("migration", "page faults on the CPU", 0, 0);  // its value is no number of faults
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT:
      return add("migration", "page fault groups on the GPU", m.start, m.end);
    default:
      return;
  }
}

void add(CUpti_Activity* record) {
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return add_kernel(*reinterpret_cast<KernelRecord*>(record));
    case CUPTI_ACTIVITY_KIND_RUNTIME:
      return add_call(*reinterpret_cast<ApiRecord*>(record));
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return add_copy(*reinterpret_cast<CopyRecord*>(record));
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return add_fill(*reinterpret_cast<FillRecord*>(record));
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return add_allocation(*reinterpret_cast<AllocationRecord*>(record));
    case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
      return add_migration(*reinterpret_cast<MigrationRecord*>(record));
    default:
      return;
  }
}

// ---- CUPTI's callbacks --------------------------------------------------------------------------

constexpr std::size_t kBufferBytes = std::size_t{8} << 20;

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *bytes = *buffer ? kBufferBytes : 0;
  *max_records = 0;  // as many as fit
}

void CUPTIAPI take_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                          std::size_t, std::size_t valid_bytes) {
  const std::lock_guard<std::mutex> lock(state.mutex);
  CUpti_Activity* record = nullptr;
  while (valid_bytes > 0 &&
         cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
    add(record);
  }
  std::size_t dropped = 0;
  if (cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS) {
    state.dropped += dropped;
  }
  std::free(buffer);
}

/// Unified memory can be watched only once the driver is up: this is tried more than once.
void watch_migration() {
  if (state.sees_migration) return;
  constexpr auto kAllDevices = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_ALL_DEVICES;
  CUpti_ActivityUnifiedMemoryCounterConfig configs[] = {
      {kAllDevices, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD, 0, 1},
      {kAllDevices, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH, 0, 1},
      {kAllDevices, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT, 0, 1},
      {kAllDevices, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT, 0, 1},
  };
  if (cuptiActivityConfigureUnifiedMemoryCounter(configs, 4) != CUPTI_SUCCESS) return;
  state.sees_migration =
      cuptiActivityEnable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER) == CUPTI_SUCCESS;
}

void CUPTIAPI on_event(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  if (domain == CUPTI_CB_DOMAIN_RESOURCE && id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED) {
    watch_migration();
  }
  if (domain != CUPTI_CB_DOMAIN_RUNTIME_API) return;
  if (static_cast<const CUpti_CallbackData*>(data)->callbackSite != CUPTI_API_ENTER) return;
  if (id == CUPTI_RUNTIME_TRACE_CBID_cudaMallocManaged_v6000) watch_migration();
  // What the device knows is lost with it.
  if (id == CUPTI_RUNTIME_TRACE_CBID_cudaDeviceReset_v3020) cuptiActivityFlushAll(0);
}

/// Begins to listen; false where another profiler does.
bool listen() {
  CUpti_SubscriberHandle subscriber;
  if (!SUCCEEDED(cuptiSubscribe(&subscriber, on_event, nullptr))) {
    remark("the GPU is not traced: is another profiler attached?");
    return false;
  }
  SUCCEEDED(cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
                                CUPTI_CBID_RESOURCE_CONTEXT_CREATED));
  for (auto call : {CUPTI_RUNTIME_TRACE_CBID_cudaMallocManaged_v6000,
                    CUPTI_RUNTIME_TRACE_CBID_cudaDeviceReset_v3020}) {
    SUCCEEDED(cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API, call));
  }
  SUCCEEDED(cuptiActivityRegisterCallbacks(give_buffer, take_buffer));
  for (auto kind :
       {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_RUNTIME,
        CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_MEMORY2}) {
    SUCCEEDED(cuptiActivityEnable(kind));
  }
  return true;
}

}  // namespace

Rows activity_rows() {
  if (!state.listening) return {};
  cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  const std::lock_guard<std::mutex> lock(state.mutex);
  Rows rows = state.rows;
  add_exchanges(state.time_line, &rows);
  return rows;
}

std::vector<std::string> activity_remarks() {
  const std::lock_guard<std::mutex> lock(state.mutex);
  std::vector<std::string> remarks = state.remarks;
  if (state.listening && !state.sees_migration) {
    remarks.push_back("unified memory could not be watched here");
  }
  if (state.dropped > 0) {
    remarks.push_back(std::to_string(state.dropped) + " records were lost");
  }
  return remarks;
}

}  // namespace trace

/// Called by the CUDA driver when it starts up.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  using namespace trace;
  [[maybe_unused]] static const bool listening = state.listening = listen();
  report_at_exit();
  return 1;
}
