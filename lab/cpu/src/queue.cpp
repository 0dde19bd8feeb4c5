#include "queue.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>

#include "error.h"
#include "memory.h"
#include "report.h"

namespace cuda_on_cpu {

/// A piece of work: a kernel, a copy, an event.
struct Work {
  Where where;
  std::function<void()> run;
  std::vector<Use> uses;
  std::vector<std::shared_ptr<Work>> after;  // what must be done before
  bool done = false, wanted = false;
};

/// The pieces of work between BeginCapture and EndCapture, in the order in which they were issued.
struct Graph {
  std::vector<std::shared_ptr<Work>> work;
};
struct GraphExec {
  Graph graph;
};

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
const Where* running = nullptr;

// A GPU's queue is finite too: a launch into a full one waits.
constexpr std::size_t kQueueLength = 1024;

/// Runs what is queued, up to `target` and all that it has to come after; null: all of it.
void run_until(const Work* target) {
  if (queue.empty() || (target && target->done)) return;
  for (auto w = queue.rbegin(); w != queue.rend(); ++w) {
    Work& work = **w;
    work.wanted |= !target || &work == target;
    if (!work.wanted) continue;
    for (const auto& before : work.after) before->wanted = true;
  }
  open_all_memory();
  for (const auto& work : queue) {
    if (!work->wanted) continue;
    running = &work->where;
    work->run();
    work->done = true;
    work->run = nullptr;
    work->after.clear();
  }
  running = nullptr;
  std::erase_if(queue, [](const auto& work) { return work->done; });
  close_memory_to_host();
}

std::shared_ptr<Work> append(Stream* stream, Where where, std::function<void()> run,
                             std::vector<Use> uses) {
  auto work = std::make_shared<Work>();
  work->where = where;
  work->run = std::move(run);
  work->uses = std::move(uses);
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

}  // namespace

cudaError_t enqueue(cudaStream_t stream, Where where, std::function<void()> run,
                    std::vector<Use> uses) {
  if (!is_stream(stream)) return not_a_stream();
  if (stream && stream->capture) {
    auto work = std::make_shared<Work>();
    work->where = where;
    work->run = std::move(run);
    work->uses = std::move(uses);
    stream->capture->graph.work.push_back(work);
    if (stream != stream->capture->origin) stream->capture->unjoined.insert(stream);
    return cudaSuccess;
  }
  if (!stream && any_capture()) return refuse_while_capturing("work in the default stream");
  append(stream, where, std::move(run), std::move(uses));
  return cudaSuccess;
}

bool is_capturing(cudaStream_t stream) { return stream && is_stream(stream) && stream->capture; }

QueuedUse queued_use(const Allocation* memory) {
  QueuedUse found;
  for (const auto& work : queue) {
    for (const Use& use : work->uses) {
      if (use.memory != memory || (found.where && found.writable)) continue;
      if (!found.where || use.writable) found = {&work->where, use.writable};
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
  run_until(nullptr);
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
  if (const auto last = (stream ? stream : &default_stream)->last) run_until(last.get());
  return cudaSuccess;
}
// Whoever asks again and again must see the work done one day: it is done at the first question.
cudaError_t cudaStreamQuery(cudaStream_t stream) { return cudaStreamSynchronize(stream); }
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (!stream || !is_stream(stream)) return not_a_stream();
  if (auto e = cudaStreamSynchronize(stream)) return e;
  std::erase(streams, stream);
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  if (!is_stream(stream) || !event) return not_a_stream();
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
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (!is_stream(stream) || !event) return not_a_stream();
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
  if (auto e = refuse_while_capturing("cudaEventSynchronize")) return e;
  if (event->work) run_until(event->work.get());
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) { return cudaEventSynchronize(event); }
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  if (event->work) run_until(event->work.get());
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
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
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  if (!graph) return error(cudaErrorInvalidValue, "there is no graph");
  *exec = new GraphExec{*graph};
  return cudaSuccess;
}
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  if (!exec) return error(cudaErrorInvalidValue, "there is no graph");
  for (const auto& work : exec->graph.work) {
    if (auto e = enqueue(stream, work->where, work->run, work->uses)) return e;
  }
  return cudaSuccess;
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, void** nodes, std::size_t* count) {
  if (!graph || nodes) return error(cudaErrorNotSupported, "only the count of nodes can be had");
  *count = graph->work.size();
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  delete exec;
  return cudaSuccess;
}
