// Listens to NVTX. When a program first uses NVTX, its header loads the library that
// NVTX_INJECTION64_PATH names and calls InitializeInjectionNvtx2, which puts functions of our own
// into NVTX's tables.

#include "trace.h"

#include <nvtx3/nvToolsExt.h>

#include <chrono>
#include <mutex>
#include <unordered_map>

namespace trace {
namespace {

using Clock = std::chrono::steady_clock;

struct OpenRange {
  std::string name;
  Clock::time_point start;
};

/// Never destroyed: ranges may end while the program does.
struct State {
  std::mutex mutex;
  Rows rows;                                             // but for ranges that are open
  std::unordered_map<nvtxRangeId_t, OpenRange> started;  // by nvtxRangeStart, on any thread
  nvtxRangeId_t last_id = 0;
  std::map<std::string, std::size_t> open;  // how many of each name, on all threads
};
State& state = *new State;

/// Ranges nest within a thread and a domain.
thread_local std::map<nvtxDomainHandle_t, std::vector<OpenRange>> stacks;

std::string message(const char* ascii) { return ascii ? ascii : ""; }

// The handles that we give out are pointers to names.
std::string name_of(const void* handle) {
  return handle ? *static_cast<const std::string*>(handle) : "";
}
template <class Handle>
Handle make_handle(const char* name) {
  return reinterpret_cast<Handle>(new std::string(message(name)));
}

std::string message(const nvtxEventAttributes_t* event) {
  if (!event) return "";
  if (event->messageType == NVTX_MESSAGE_TYPE_ASCII) return message(event->message.ascii);
  if (event->messageType == NVTX_MESSAGE_TYPE_REGISTERED) return name_of(event->message.registered);
  return "";
}

/// A range begins now. Whoever calls this, or `end`, holds the lock.
OpenRange begin(nvtxDomainHandle_t domain, const std::string& name) {
  const std::string full = domain ? name_of(domain) + ":" + name : name;
  ++state.open[full];
  return {full, Clock::now()};
}

void end(const OpenRange& range) {
  const double ns = std::chrono::duration<double, std::nano>(Clock::now() - range.start).count();
  find_row(&state.rows, "nvtx", range.name).add(ns);
  if (--state.open[range.name] == 0) state.open.erase(range.name);
}

int push(nvtxDomainHandle_t domain, const std::string& name) {
  std::vector<OpenRange>& stack = stacks[domain];
  const std::lock_guard<std::mutex> lock(state.mutex);
  stack.push_back(begin(domain, name));
  return static_cast<int>(stack.size()) - 1;
}

int pop(nvtxDomainHandle_t domain) {
  std::vector<OpenRange>& stack = stacks[domain];
  const std::lock_guard<std::mutex> lock(state.mutex);
  if (stack.empty()) {
    find_row(&state.rows, "pops", "nvtxRangePop").add(0);
    return NVTX_NO_PUSH_POP_TRACKING;
  }
  end(stack.back());
  stack.pop_back();
  return static_cast<int>(stack.size());
}

nvtxRangeId_t start(nvtxDomainHandle_t domain, const std::string& name) {
  const std::lock_guard<std::mutex> lock(state.mutex);
  state.started[++state.last_id] = begin(domain, name);
  return state.last_id;
}

void end_started(nvtxRangeId_t id) {
  const std::lock_guard<std::mutex> lock(state.mutex);
  const auto found = state.started.find(id);
  if (found == state.started.end()) return;
  end(found->second);
  state.started.erase(found);
}

}  // namespace

Rows nvtx_rows() {
  const std::lock_guard<std::mutex> lock(state.mutex);
  Rows rows = state.rows;
  for (const auto& [name, count] : state.open) {
    for (std::size_t k = 0; k < count; ++k) find_row(&rows, "open", name).add(0);
  }
  return rows;
}

}  // namespace trace

/// Called once for each copy of NVTX in the program. Returns 1 where we listen.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_table) {
  using namespace trace;
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  if (!callbacks || callbacks->struct_size < sizeof *callbacks) return 0;
  // Puts a function of ours, a lambda without captures, into one of NVTX's tables.
  const auto set = [callbacks](NvtxCallbackModule module, unsigned number, auto function) {
    NvtxFunctionTable table = nullptr;
    unsigned size = 0;
    if (!callbacks->GetModuleFunctionTable(module, &table, &size) || number >= size) return;
    *table[number] = reinterpret_cast<NvtxFunctionPointer>(+function);
  };
  constexpr auto kCore = NVTX_CB_MODULE_CORE, kDomains = NVTX_CB_MODULE_CORE2;
  using Domain = nvtxDomainHandle_t;
  using Event = const nvtxEventAttributes_t*;
  set(kCore, NVTX_CBID_CORE_RangePushA,
      [](const char* name) { return push(nullptr, message(name)); });
  set(kCore, NVTX_CBID_CORE_RangePushEx, [](Event event) { return push(nullptr, message(event)); });
  set(kCore, NVTX_CBID_CORE_RangePop, [] { return pop(nullptr); });
  set(kCore, NVTX_CBID_CORE_RangeStartA,
      [](const char* name) { return start(nullptr, message(name)); });
  set(kCore, NVTX_CBID_CORE_RangeStartEx,
      [](Event event) { return start(nullptr, message(event)); });
  set(kCore, NVTX_CBID_CORE_RangeEnd, [](nvtxRangeId_t id) { end_started(id); });
  set(kDomains, NVTX_CBID_CORE2_DomainCreateA, make_handle<Domain>);
  set(kDomains, NVTX_CBID_CORE2_DomainRegisterStringA,
      [](Domain, const char* text) { return make_handle<nvtxStringHandle_t>(text); });
  set(kDomains, NVTX_CBID_CORE2_DomainRangePushEx,
      [](Domain domain, Event event) { return push(domain, message(event)); });
  set(kDomains, NVTX_CBID_CORE2_DomainRangePop, [](Domain domain) { return pop(domain); });
  set(kDomains, NVTX_CBID_CORE2_DomainRangeStartEx,
      [](Domain domain, Event event) { return start(domain, message(event)); });
  set(kDomains, NVTX_CBID_CORE2_DomainRangeEnd, [](Domain, nvtxRangeId_t id) { end_started(id); });
  report_at_exit();
  return 1;
}
