// Listens to NVTX. When a program first uses NVTX, its header loads the library that
// NVTX_INJECTION64_PATH names and calls InitializeInjectionNvtx2, which puts functions of our own
// into NVTX's tables.

#include "nvtx_ranges.h"

#include <nvtx3/nvToolsExt.h>

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace.h"

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
  std::map<std::string, Series> ended;
  std::unordered_map<nvtxRangeId_t, OpenRange> started;  // by nvtxRangeStart, on any thread
  nvtxRangeId_t last_id = 0;
  std::map<std::string, std::size_t> pushed;  // ranges that are open, of all threads
};
State& state() {
  static State* state = new State;
  return *state;
}

/// Ranges nest within a thread and a domain.
thread_local std::map<nvtxDomainHandle_t, std::vector<OpenRange>> stacks;

// The handles that we give out are pointers to names.
std::string name_of(const void* handle) {
  return handle ? *static_cast<const std::string*>(handle) : "";
}
template <class Handle>
Handle make_handle(const char* name) {
  return reinterpret_cast<Handle>(new std::string(name ? name : ""));
}

std::string message(const nvtxEventAttributes_t* event) {
  if (!event) return "";
  switch (event->messageType) {
    case NVTX_MESSAGE_TYPE_ASCII:
      return event->message.ascii ? event->message.ascii : "";
    case NVTX_MESSAGE_TYPE_REGISTERED:
      return name_of(event->message.registered);
  }
  return "";
}

std::string full_name(nvtxDomainHandle_t domain, const std::string& name) {
  return domain ? name_of(domain) + ":" + name : name;
}

void end(const OpenRange& range) {
  const double ns = std::chrono::duration<double, std::nano>(Clock::now() - range.start).count();
  state().ended[range.name].add(ns);
}

int push(nvtxDomainHandle_t domain, const std::string& name) {
  std::vector<OpenRange>& stack = stacks[domain];
  stack.push_back({full_name(domain, name), Clock::now()});
  {
    const std::lock_guard<std::mutex> lock(state().mutex);
    ++state().pushed[stack.back().name];
  }
  return static_cast<int>(stack.size()) - 1;
}

int pop(nvtxDomainHandle_t domain) {
  std::vector<OpenRange>& stack = stacks[domain];
  if (stack.empty()) return NVTX_NO_PUSH_POP_TRACKING;
  const std::lock_guard<std::mutex> lock(state().mutex);
  end(stack.back());
  --state().pushed[stack.back().name];
  stack.pop_back();
  return static_cast<int>(stack.size());
}

nvtxRangeId_t start(nvtxDomainHandle_t domain, const std::string& name) {
  const std::lock_guard<std::mutex> lock(state().mutex);
  const nvtxRangeId_t id = ++state().last_id;
  state().started[id] = {full_name(domain, name), Clock::now()};
  return id;
}

void end_started(nvtxRangeId_t id) {
  const std::lock_guard<std::mutex> lock(state().mutex);
  const auto found = state().started.find(id);
  if (found == state().started.end()) return;
  end(found->second);
  state().started.erase(found);
}

// ---- NVTX's own functions -----------------------------------------------------------------------

int NVTX_API push_ascii(const char* name) { return push(nullptr, name ? name : ""); }
int NVTX_API push_event(const nvtxEventAttributes_t* event) {
  return push(nullptr, message(event));
}
int NVTX_API pop_range() { return pop(nullptr); }
nvtxRangeId_t NVTX_API start_ascii(const char* name) { return start(nullptr, name ? name : ""); }
nvtxRangeId_t NVTX_API start_event(const nvtxEventAttributes_t* event) {
  return start(nullptr, message(event));
}
void NVTX_API end_range(nvtxRangeId_t id) { end_started(id); }

int NVTX_API domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  return push(domain, message(event));
}
int NVTX_API domain_pop(nvtxDomainHandle_t domain) { return pop(domain); }
nvtxRangeId_t NVTX_API domain_start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  return start(domain, message(event));
}
void NVTX_API domain_end(nvtxDomainHandle_t, nvtxRangeId_t id) { end_started(id); }
nvtxDomainHandle_t NVTX_API create_domain(const char* name) {
  return make_handle<nvtxDomainHandle_t>(name);
}
nvtxStringHandle_t NVTX_API register_string(nvtxDomainHandle_t, const char* text) {
  return make_handle<nvtxStringHandle_t>(text);
}

/// Puts our functions into one of NVTX's tables, by number.
class FunctionTable {
 public:
  FunctionTable(const NvtxExportTableCallbacks* callbacks, NvtxCallbackModule module) {
    if (!callbacks->GetModuleFunctionTable(module, &table_, &size_)) size_ = 0;
  }
  template <class Function>
  void set(unsigned number, Function* function) {
    if (number < size_) *table_[number] = reinterpret_cast<NvtxFunctionPointer>(function);
  }
  explicit operator bool() const { return size_ > 0; }

 private:
  NvtxFunctionTable table_ = nullptr;
  unsigned size_ = 0;
};

}  // namespace

Table nvtx_table() {
  const std::lock_guard<std::mutex> lock(state().mutex);
  Table table{"nvtx", "NVTX Range Summary", {}};
  for (const auto& [name, series] : state().ended) table.rows.push_back({name, series});
  return table;
}

std::map<std::string, std::size_t> open_nvtx_ranges() {
  const std::lock_guard<std::mutex> lock(state().mutex);
  std::map<std::string, std::size_t> open = state().pushed;
  for (const auto& [id, range] : state().started) ++open[range.name];
  for (auto name = open.begin(); name != open.end();) {
    name = name->second == 0 ? open.erase(name) : std::next(name);
  }
  return open;
}

}  // namespace trace

/// Called once for each copy of NVTX in the program. Returns 1 where we listen.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_table) {
  using namespace trace;
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  if (!callbacks || callbacks->struct_size < sizeof *callbacks) return 0;
  FunctionTable core(callbacks, NVTX_CB_MODULE_CORE), core2(callbacks, NVTX_CB_MODULE_CORE2);
  if (!core) return 0;
  core.set(NVTX_CBID_CORE_RangePushA, push_ascii);
  core.set(NVTX_CBID_CORE_RangePushEx, push_event);
  core.set(NVTX_CBID_CORE_RangePop, pop_range);
  core.set(NVTX_CBID_CORE_RangeStartA, start_ascii);
  core.set(NVTX_CBID_CORE_RangeStartEx, start_event);
  core.set(NVTX_CBID_CORE_RangeEnd, end_range);
  core2.set(NVTX_CBID_CORE2_DomainCreateA, create_domain);
  core2.set(NVTX_CBID_CORE2_DomainRegisterStringA, register_string);
  core2.set(NVTX_CBID_CORE2_DomainRangePushEx, domain_push);
  core2.set(NVTX_CBID_CORE2_DomainRangePop, domain_pop);
  core2.set(NVTX_CBID_CORE2_DomainRangeStartEx, domain_start);
  core2.set(NVTX_CBID_CORE2_DomainRangeEnd, domain_end);
  report_at_exit();
  return 1;
}
