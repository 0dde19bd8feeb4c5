#include "queue.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <set>
#include <utility>

#include "activity.h"
#include "error.h"
#include "memory.h"
#include "report.h"
#include "settings.h"

namespace cuda_on_cpu {

/// A piece of work: a kernel, a copy, an event.
struct Work {
  Where where;
  std::function<void()> run;
  std::vector<Use> uses;
  const char* what = nullptr;  // "copy"; null: a kernel, where it uses any memory, or an event
  std::vector<std::shared_ptr<Work>> after;  // what must be done before
  bool done = false, wanted = false, seen = false;
  const char* beside = nullptr;  // what may run beside a kernel: "ncclSend"
  bool has_kernel_beside = false;

  bool is_kernel() const { return !uses.empty() && !what; }
};

/// The pieces of work between BeginCapture and EndCapture, in the order in which they were issued.
struct Graph {
  std::vector<std::shared_ptr<Work>> work;
  Where destroyed_at;
};
struct GraphExec : Graph {};

/// A capture goes on: what was captured, by the stream that began it and those that joined it.
struct Capture {
  cudaStream_t origin;
  Graph graph;
  std::set<cudaStream_t> unjoined;  // with work that the origin has not waited for
  bool broken = false;
};

struct Stream {
  std::shared_ptr<Work> last;
  bool blocking = true;  // the default stream waits for it, and it for the default stream
  std::shared_ptr<Capture> capture;
};

struct Event {
  std::shared_ptr<Work> work;
  std::chrono::steady_clock::time_point time;
  // Recorded in a capture: by which stream.
  std::shared_ptr<Capture> capture;
  cudaStream_t captured_in = nullptr;
};

namespace {

// These outlive every other object of the program: they are looked at when it ends.
Stream& default_stream = *new Stream;
std::vector<Stream*>& streams = *new std::vector<Stream*>;
std::vector<std::shared_ptr<Work>>& queue =  // in the order in which it was issued
    *new std::vector<std::shared_ptr<Work>>;
std::set<cudaEvent_t>& events = *new std::set<cudaEvent_t>;
// Destroyed ones too: their addresses are not given out twice.
std::set<const Graph*>& graphs = *new std::set<const Graph*>;
std::set<const GraphExec*>& graph_execs = *new std::set<const GraphExec*>;
const Where* running = nullptr;

// A GPU's queue is finite too: a launch into a full one waits.
constexpr std::size_t kQueueLength = 1024;

void finish(Work& work) {
  running = &work.where;
  work.run();
  running = nullptr;
  work.done = true;
  work.run = nullptr;
  work.after.clear();
  if (work.beside) note_beside(work.beside, work.has_kernel_beside);
}

/// A piece of work that may go on: all that it has to come after is done. Null: there is none.
std::shared_ptr<Work> any_ready() {
  static std::mt19937_64& shuffle = *new std::mt19937_64(settings().seed);
  std::vector<std::shared_ptr<Work>> ready;
  for (const auto& work : queue) {
    const auto done = [](const auto& before) { return before->done; };
    if (!work->done && std::all_of(work->after.begin(), work->after.end(), done)) {
      ready.push_back(work);
    }
  }
  if (ready.empty()) return nullptr;
  return ready[settings().order == Order::reverse ? ready.size() - 1 : shuffle() % ready.size()];
}

/// Runs what is queued, up to `target` and all that it has to come after; null: all of it. Streams
/// go on independently of each other, and nobody knows which of them is ahead. So LAB_CPU_ORDER is
/// theirs, too: forward, each piece of work comes as late as it may, when somebody waits for it;
/// in reverse, what was queued last comes as soon as it may.
void run_until(const Work* target) {
  if (queue.empty() || (target && target->done)) return;
  open_all_memory();
  if (settings().order == Order::forward) {
    for (auto w = queue.rbegin(); w != queue.rend(); ++w) {
      Work& work = **w;
      work.wanted |= !target || &work == target;
      if (!work.wanted) continue;
      for (const auto& before : work.after) before->wanted = true;
    }
    for (const auto& work : queue) {
      if (work->wanted) finish(*work);
    }
  } else {
    while (!target || !target->done) {
      const auto work = any_ready();
      if (!work) break;
      finish(*work);
    }
  }
  std::erase_if(queue, [](const auto& work) { return work->done; });
  close_memory_to_host();
}

/// Marks what `work` has to come after, of what is not done.
void mark_before(const Work& work) {
  for (const auto& before : work.after) {
    if (before->done || before->seen) continue;
    before->seen = true;
    mark_before(*before);
  }
}

/// Of a kernel, or of what may run beside one: whether they may, as neither waits for the other.
void look_for_company(const std::shared_ptr<Work>& work) {
  const bool is_kernel = work->is_kernel();
  if (!is_kernel && !work->beside) return;
  for (const auto& other : queue) other->seen = false;
  mark_before(*work);
  for (const auto& other : queue) {
    if (other->done || other->seen) continue;
    if (is_kernel && other->beside) other->has_kernel_beside = true;
    if (work->beside && other->is_kernel()) work->has_kernel_beside = true;
  }
}

/// The host waits; null: for all that is queued.
void wait_until(const Work* target) {
  const auto is_kernel = [](const auto& work) { return work->is_kernel(); };
  if (queue.empty() || (target && target->done)) return;
  run_until(target);
  note_wait(std::any_of(queue.begin(), queue.end(), is_kernel));
}

std::shared_ptr<Work> append(Stream* stream, Where where, std::function<void()> run,
                             std::vector<Use> uses, const char* what = nullptr,
                             const char* beside = nullptr) {
  auto work = std::make_shared<Work>();
  work->where = where;
  work->run = std::move(run);
  work->uses = std::move(uses);
  work->what = what;
  work->beside = beside;
  const bool closes = !work->uses.empty();
  Stream* own = stream ? stream : &default_stream;
  auto come_after = [&](const Stream& other) {
    if (other.last && !other.last->done) work->after.push_back(other.last);
  };
  come_after(*own);
  if (!stream) {
    for (Stream* other : streams) {
      if (other->blocking) come_after(*other);
    }
  } else if (stream->blocking) {
    come_after(default_stream);
  }
  own->last = work;
  look_for_company(work);
  queue.push_back(work);
  if (queue.size() >= kQueueLength) {
    run_until(nullptr);
  } else if (closes) {
    close_memory_to_host();
  }
  return work;
}

bool any_capture() {
  return std::any_of(streams.begin(), streams.end(), [](Stream* s) { return s->capture; });
}

/// For a call that waits, which no capture allows.
cudaError_t refuse_while_capturing(const char* call) {
  if (!any_capture()) return cudaSuccess;
  for (Stream* s : streams) {
    if (s->capture) s->capture->broken = true;
  }
  return error(cudaErrorStreamCaptureUnsupported,
               "%s between cudaStreamBeginCapture and "
               "cudaStreamEndCapture",
               call);
}

bool is_stream(cudaStream_t stream) {
  return !stream || std::find(streams.begin(), streams.end(), stream) != streams.end();
}

cudaError_t not_a_stream() {
  return error(cudaErrorInvalidResourceHandle, "there is no such stream");
}

bool is_event(cudaEvent_t event) { return events.count(event) > 0; }

cudaError_t not_an_event(cudaEvent_t event) {
  return error(cudaErrorInvalidResourceHandle,
               event ? "there is no such event" : "a null event: was it created?");
}

/// What is wrong with a graph that is to be used, `made_by` that call.
template <class G>
cudaError_t check_graph(const G* graph, const std::set<const G*>& all, const char* made_by) {
  if (!graph) return error(cudaErrorInvalidValue, "there is no graph");
  if (!all.count(graph)) return error(cudaErrorInvalidValue, "%s has not made it", made_by);
  if (graph->destroyed_at.line == 0) return cudaSuccess;
  return error(cudaErrorInvalidValue, "this graph was destroyed already, at %s",
               text(graph->destroyed_at).c_str());
}
cudaError_t check(cudaGraph_t graph) {
  return check_graph<Graph>(graph, graphs, "cudaStreamEndCapture");
}
cudaError_t check(cudaGraphExec_t exec) {
  return check_graph<GraphExec>(exec, graph_execs, "cudaGraphInstantiate");
}

template <class G>
cudaError_t destroy_graph(G* graph, Where where) {
  if (!graph) return cudaSuccess;
  if (auto e = check(graph)) return e;
  graph->work.clear();
  graph->destroyed_at = where;
  return cudaSuccess;
}

}  // namespace

cudaError_t enqueue(cudaStream_t stream, Where where, std::function<void()> run,
                    std::vector<Use> uses, const char* what) {
  if (!is_stream(stream)) return not_a_stream();
  if (stream && stream->capture) {
    auto work = std::make_shared<Work>();
    work->where = where;
    work->run = std::move(run);
    work->uses = std::move(uses);
    work->what = what;
    stream->capture->graph.work.push_back(work);
    if (stream != stream->capture->origin) stream->capture->unjoined.insert(stream);
    return cudaSuccess;
  }
  if (!stream && any_capture()) return refuse_while_capturing("work in the default stream");
  append(stream, where, std::move(run), std::move(uses), what);
  return cudaSuccess;
}

cudaError_t enqueue_beside(cudaStream_t stream, const char* what, std::function<void()> run) {
  if (!is_stream(stream)) return not_a_stream();
  if (any_capture()) return refuse_while_capturing(what);
  append(stream, {}, std::move(run), {}, nullptr, what);
  return cudaSuccess;
}

cudaStream_t stream_per_thread() {
  static const cudaStream_t stream = [] {
    cudaStream_t made;
    cudaStreamCreate(&made);
    return made;
  }();
  return stream;
}

bool is_capturing(cudaStream_t stream) { return stream && is_stream(stream) && stream->capture; }

QueuedUse queued_use(const Allocation* memory, const void* address) {
  QueuedUse found;
  for (const auto& work : queue) {
    for (const Use& use : work->uses) {
      if (use.memory != memory || (found.where && found.writable)) continue;
      if (address && !use.has(address)) continue;
      if (!found.where || use.writable) found = {&work->where, use.writable, work->what};
    }
  }
  return found;
}

Where running_work() { return running ? *running : Where{}; }

std::pair<int, Where> never_waited_for() {
  int count = 0;
  Where first;
  for (const auto& work : queue) {
    if (work->uses.empty() && !work->where.line) continue;  // an event
    if (count++ == 0) first = work->where;
  }
  return {count, first};
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

// ---- streams ------------------------------------------------------------------------------------

cudaError_t cudaDeviceSynchronize() {
  if (auto e = refuse_while_capturing("cudaDeviceSynchronize")) return e;
  wait_until(nullptr);
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  *stream = new Stream;
  (*stream)->blocking = flags != cudaStreamNonBlocking;
  streams.push_back(*stream);
  return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = *greatest = 0;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (!is_stream(stream)) return not_a_stream();
  if (auto e = refuse_while_capturing("cudaStreamSynchronize")) return e;
  if (const auto last = (stream ? stream : &default_stream)->last) wait_until(last.get());
  return cudaSuccess;
}
// Whoever asks again and again must see the work done one day: it is done at the first question.
cudaError_t cudaStreamQuery(cudaStream_t stream) { return cudaStreamSynchronize(stream); }
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (!stream || !is_stream(stream)) return not_a_stream();
  if (stream == cudaStreamPerThread) {
    return error(cudaErrorInvalidResourceHandle, "cudaStreamPerThread was not created");
  }
  if (auto e = cudaStreamSynchronize(stream)) return e;
  std::erase(streams, stream);
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  if (!is_stream(stream)) return not_a_stream();
  if (!is_event(event)) return not_an_event(event);
  if (event->capture) {  // the stream joins the capture, or the origin waits for one that did
    if (!stream) return refuse_while_capturing("the default stream waits");
    if (stream == event->capture->origin) {
      event->capture->unjoined.erase(event->captured_in);
    } else {
      stream->capture = event->capture;
      stream->capture->unjoined.insert(stream);
    }
    return cudaSuccess;
  }
  if (event->work && !event->work->done) {
    append(stream, {}, [] {}, {})->after.push_back(event->work);
  }
  return cudaSuccess;
}

// ---- events -------------------------------------------------------------------------------------

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = new Event;
  events.insert(*event);
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (!is_stream(stream)) return not_a_stream();
  if (!is_event(event)) return not_an_event(event);
  if (stream && stream->capture) {
    event->capture = stream->capture;
    event->captured_in = stream;
    return cudaSuccess;
  }
  event->capture = nullptr;
  event->work = append(stream, {}, [event] { event->time = std::chrono::steady_clock::now(); }, {});
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (!is_event(event)) return not_an_event(event);
  if (auto e = refuse_while_capturing("cudaEventSynchronize")) return e;
  if (event->work) wait_until(event->work.get());
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) { return cudaEventSynchronize(event); }
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  if (!is_event(event)) return not_an_event(event);
  if (event->work) run_until(event->work.get());
  events.erase(event);
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
  for (const cudaEvent_t event : {start, end}) {
    if (!is_event(event)) return not_an_event(event);
  }
  if (!start->work || !end->work) {
    return error(cudaErrorInvalidResourceHandle, "an event that was not recorded");
  }
  if (!start->work->done || !end->work->done) {
    return error(cudaErrorNotReady, "wait for the event first: cudaEventSynchronize");
  }
  *ms = std::chrono::duration<float, std::milli>(end->time - start->time).count();
  return cudaSuccess;
}

// ---- graphs -------------------------------------------------------------------------------------

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  if (!stream) {
    return error(cudaErrorStreamCaptureUnsupported, "the default stream cannot be captured");
  }
  if (!is_stream(stream)) return not_a_stream();
  if (stream->capture) return error(cudaErrorIllegalState, "the stream is being captured already");
  stream->capture = std::make_shared<Capture>();
  stream->capture->origin = stream;
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = nullptr;
  if (!stream || !is_stream(stream)) return not_a_stream();
  const auto capture = stream->capture;
  if (!capture) return error(cudaErrorIllegalState, "the stream is not being captured");
  if (capture->origin != stream) {
    return error(cudaErrorStreamCaptureUnmatched, "another stream began the capture");
  }
  for (Stream* s : streams) {
    if (s->capture == capture) s->capture = nullptr;
  }
  if (capture->broken) return error(cudaErrorStreamCaptureInvalidated, "a call in it had to wait");
  if (!capture->unjoined.empty()) {
    return error(cudaErrorStreamCaptureUnjoined,
                 "a second stream has work that the first does not wait for");
  }
  *graph = new Graph(capture->graph);
  graphs.insert(*graph);
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  if (auto e = check(graph)) return e;
  *exec = new GraphExec{*graph};
  graph_execs.insert(*exec);
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                          unsigned long long flags) {
  return cudaGraphInstantiate(exec, graph, flags);
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, cudaGraphNode_t*, char*,
                                 std::size_t) {
  return cudaGraphInstantiate(exec, graph, 0);
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* info) {
  if (auto e = check(exec)) return e;
  if (auto e = check(graph)) return e;
  const bool same = std::equal(exec->work.begin(), exec->work.end(), graph->work.begin(),
                               graph->work.end(), [](const auto& a, const auto& b) {
                                 return a->is_kernel() == b->is_kernel() && a->what == b->what;
                               });
  if (info) *info = {};
  if (same) {
    exec->work = graph->work;
    return cudaSuccess;
  }
  if (info) info->result = cudaGraphExecUpdateErrorTopologyChanged;
  return error(cudaErrorGraphExecUpdateFailure, "the two graphs have other nodes");
}
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t) { return check(exec); }
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  if (auto e = check(exec)) return e;
  note_handed_over("graph");
  for (const auto& work : exec->work) {
    if (auto e = enqueue(stream, work->where, work->run, work->uses, work->what)) return e;
  }
  return cudaSuccess;
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  if (auto e = check(graph)) return e;
  if (nodes) return error(cudaErrorNotSupported, "only the count of nodes can be had");
  *count = graph->work.size();
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph, Where where) { return destroy_graph(graph, where); }
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec, Where where) {
  return destroy_graph(exec, where);
}
