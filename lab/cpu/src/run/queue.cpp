#include "run/queue.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <set>

#include "activity.h"
#include "error.h"
#include "memory/memory.h"
#include "report.h"
#include "settings.h"

namespace cuda_on_cpu {

/// A piece of work: a kernel, a copy, an event.
struct Work {
  Where where;  // in the program; nowhere: a library's, or an event
  std::function<void()> run;
  std::vector<Use> uses;
  const char* what = nullptr;  // "copy", or a library's "ncclSend"; null: a kernel, or an event
  std::set<std::shared_ptr<Work>> after = {};  // what must be done before
  bool done = false, marked = false;
  std::chrono::steady_clock::time_point done_at = {};
  int questions = 0;  // how often the host has asked whether it is done
  const Stream* stream = nullptr;
  // Of a library's work, and of a kernel if others were queued in other streams: how many kernels
  // it may run alongside.
  int kernels_beside = 0;
  bool has_other_stream = false;

  bool is_kernel() const { return !uses.empty() && !what; }
  bool is_of_library() const { return what && !where.line; }
};

/// A stream, an event or a graph. One that was destroyed stays: its address is not given out twice.
struct Handle {
  Origin origin = {};
  Where destroyed_at = {};

  bool is_destroyed() const { return destroyed_at.line > 0; }
};

/// The pieces of work between BeginCapture and EndCapture, in the order in which they were issued.
struct Graph : Handle {
  static constexpr const char* kMadeBy = "cudaStreamEndCapture";
  std::vector<std::shared_ptr<Work>> work;
};
struct GraphExec : Graph {
  static constexpr const char* kMadeBy = "cudaGraphInstantiate";
};

/// What is captured, of the stream that began it and of those that joined it.
struct Capture {
  cudaStream_t origin;
  std::vector<std::shared_ptr<Work>> work = {};
  bool broken = false, ended = false;
};

struct Stream : Handle {
  bool blocking = true;  // the default stream waits for it, and it for the default stream
  std::shared_ptr<Work> last = {};
  std::shared_ptr<Capture> capture = {};          // it goes on
  std::set<std::shared_ptr<Work>> captured = {};  // in it: what the stream's next work comes after
};

struct Event : Handle {
  std::shared_ptr<Work> work = {};
  std::shared_ptr<Capture> recorded_in = {};      // which may have ended
  std::set<std::shared_ptr<Work>> captured = {};  // in it: what comes before the event
};

namespace {

// These outlive every other object of the program: they are looked at when it ends.
Stream& default_stream = *new Stream;
std::set<const Handle*>& handles = *new std::set<const Handle*>;
std::vector<Stream*>& streams = *new std::vector<Stream*>;  // but those that have come to their end
// In the order in which it was issued.
std::vector<std::shared_ptr<Work>>& queue = *new std::vector<std::shared_ptr<Work>>;
const Where* running = nullptr;

// How often the answer is "not ready" if work comes as late as it may. A program that asks again
// and again must see the work done one day. One that asks once must not count on it.
constexpr int kNotReadyAnswers = 20;

// A GPU's queue is finite too: a launch into a full one waits.
constexpr std::size_t kQueueLength = 1024;

void finish(Work& work) {
  running = &work.where;
  work.run();
  running = nullptr;
  work.done = true;
  work.done_at = std::chrono::steady_clock::now();
  work.run = nullptr;
  work.after.clear();
  const char* what = work.is_of_library() ? work.what : work.has_other_stream ? "kernel" : nullptr;
  if (!what) return;
  const bool several = work.is_of_library() && work.kernels_beside > 1;
  const char* one = work.kernels_beside > 0 ? "beside a kernel" : "beside no kernel";
  note(several ? "beside kernels" : one, what);
}

/// Marks a piece of work, and all that it has to come after, of what is not done.
void mark(Work& work) {
  if (work.done || work.marked) return;
  work.marked = true;
  for (const auto& before : work.after) mark(*before);
}

/// A piece of work that may go on: all that it has to come after is done. Null: there is none.
std::shared_ptr<Work> any_ready() {
  static std::mt19937_64& shuffle = *new std::mt19937_64;
  std::vector<std::shared_ptr<Work>> ready;
  for (const auto& work : queue) {
    const auto done = [](const auto& before) { return before->done; };
    if (!work->done && std::all_of(work->after.begin(), work->after.end(), done)) {
      ready.push_back(work);
    }
  }
  if (ready.empty()) return nullptr;
  const Order order = settings().order;
  return order == Order::forward   ? ready.front()
         : order == Order::reverse ? ready.back()
                                   : ready[shuffle() % ready.size()];
}

/// Runs what is queued, up to `target` and all that it has to come after; null: all of it. Streams
/// go on independently of each other, and which of them is ahead is open. So LAB_CPU_ORDER also
/// holds for them: forward, each piece of work comes as late as it may, when it is waited for;
/// in reverse, what was queued last comes as soon as it may. By chance, at most `most` pieces run.
void run_until(Work* target, std::size_t most = SIZE_MAX) {
  open_all_memory();
  if (settings().order == Order::forward) {
    for (const auto& work : queue) work->marked = !target;
    if (target) mark(*target);
    for (const auto& work : queue) {
      if (work->marked) finish(*work);
    }
  } else {
    for (; most > 0 && (!target || !target->done); --most) {
      const auto work = any_ready();
      if (!work) break;
      finish(*work);
    }
  }
  std::erase_if(queue, [](const auto& work) { return work->done; });
  close_memory_to_host();
}

/// Of a kernel, or of a library's work: whether it may run alongside one of the other kind, or of
/// another stream's kernels, as neither waits for the other.
void look_for_company(const std::shared_ptr<Work>& work) {
  if (!work->is_kernel() && !work->is_of_library()) return;
  for (const auto& other : queue) other->marked = false;
  mark(*work);
  for (const auto& other : queue) {
    const bool kernels = work->is_kernel() && other->is_kernel() && work->stream != other->stream;
    if (kernels) work->has_other_stream = other->has_other_stream = true;
    if (other->marked) continue;
    if (kernels || (work->is_kernel() && other->is_of_library())) ++other->kernels_beside;
    if (kernels || (work->is_of_library() && other->is_kernel())) ++work->kernels_beside;
  }
}

/// The host waits; null: for all that is queued. `most`: as in run_until.
void wait_until(Work* target, std::size_t most = SIZE_MAX) {
  const auto is_kernel = [](const auto& work) { return work->is_kernel(); };
  if (queue.empty() || (target && target->done)) return;
  run_until(target, most);
  if (target && !target->done) return;
  const bool kernels_left = std::any_of(queue.begin(), queue.end(), is_kernel);
  note("waits", kernels_left ? "kernels left" : "no kernels left");
}

/// Whether the work is done, as cudaEventQuery answers it. Forward, it runs after enough questions;
/// in reverse, at the first one; by chance, each question runs one piece of what is queued.
cudaError_t query(const std::shared_ptr<Work>& work) {
  if (!work || work->done) return cudaSuccess;
  if (settings().order != Order::forward || ++work->questions > kNotReadyAnswers) {
    wait_until(work.get(), settings().order == Order::shuffled ? 1 : SIZE_MAX);
  }
  if (work->done) return cudaSuccess;
  return error(cudaErrorNotReady,
               "what it asks for may not have ended: cudaEventSynchronize and "
               "cudaStreamSynchronize wait for it");
}

std::shared_ptr<Work> append(Stream* stream, Where where, std::function<void()> run,
                             std::vector<Use> uses, const char* what = nullptr) {
  auto work = std::make_shared<Work>(Work{where, std::move(run), std::move(uses), what});
  const bool closes = !work->uses.empty();
  Stream* own = stream ? stream : &default_stream;
  auto come_after = [&](const Stream& other) {
    if (other.last && !other.last->done) work->after.insert(other.last);
  };
  come_after(*own);
  if (!stream) {
    for (Stream* other : streams) {
      if (other->blocking) come_after(*other);
    }
  } else if (stream->blocking) {
    come_after(default_stream);
  }
  if (work->is_of_library()) {
    // NCCL runs the calls of one communicator one after another, in whatever streams they are
    // (github.com/NVIDIA/nccl, issue 574).
    static std::shared_ptr<Work>& before = *new std::shared_ptr<Work>;
    if (before && !before->done) work->after.insert(before);
    before = work;
  }
  own->last = work;
  work->stream = own;
  look_for_company(work);
  queue.push_back(work);
  if (queue.size() >= kQueueLength) {
    run_until(nullptr);
  } else if (settings().repair.is("waits", where.line)) {
    run_until(work.get());
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
  return error_because({"capture"}, cudaErrorStreamCaptureUnsupported, call,
                       " between cudaStreamBeginCapture and cudaStreamEndCapture");
}

bool is_stream(cudaStream_t stream) {
  return !stream || (handles.count(stream) && !stream->is_destroyed());
}

cudaError_t not_a_stream() {
  return error(cudaErrorInvalidResourceHandle, "there is no such stream");
}

const std::shared_ptr<Work>& last_work(cudaStream_t stream) {
  return (stream ? stream : &default_stream)->last;
}

/// What is wrong with an event, or a graph, that is about to be used.
cudaError_t check(const Handle* handle, cudaError_t code, const char* what,
                  const std::string& if_unknown) {
  if (!handles.count(handle)) return error(code, if_unknown);
  if (!handle->is_destroyed()) return cudaSuccess;
  return error(code, "this ", what, " was destroyed already, at ", handle->destroyed_at);
}
cudaError_t check(cudaEvent_t event) {
  return check(event, cudaErrorInvalidResourceHandle, "event",
               event ? "there is no such event" : "a null event: was it created?");
}
template <class G>
cudaError_t check(G* graph) {
  return check(graph, cudaErrorInvalidValue, "graph",
               graph ? joined(G::kMadeBy, " did not create it") : "there is no graph");
}
/// For calls that ask for the work before an event: in a capture, which has ended, none was done.
/// (An H100 with CUDA 13.0 returns the same.)
cudaError_t refuse_captured(cudaEvent_t event) {
  if (!event->recorded_in) return cudaSuccess;
  return error(cudaErrorInvalidValue,
               "it was recorded between cudaStreamBeginCapture and cudaStreamEndCapture");
}
cudaError_t destroy_graph(auto* graph, Where where) {
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
    stream->capture->work.push_back(std::make_shared<Work>(
        Work{where, std::move(run), std::move(uses), what, std::move(stream->captured)}));
    stream->captured = {stream->capture->work.back()};
    return cudaSuccess;
  }
  if (!stream && any_capture()) return refuse_while_capturing("work in the default stream");
  append(stream, where, std::move(run), std::move(uses), what);
  return cudaSuccess;
}

cudaError_t enqueue_beside(cudaStream_t stream, const char* what, std::function<void()> run) {
  if (auto e = refuse_while_capturing(what)) return e;
  return enqueue(stream, {}, std::move(run), {}, what);
}

bool go_on() {
  const auto work = running ? nullptr : any_ready();
  if (!work) return false;
  open_all_memory();
  finish(*work);
  std::erase_if(queue, [](const auto& each) { return each->done; });
  close_memory_to_host();
  return true;
}

void wait_for_stream(cudaStream_t stream) {
  if (const auto last = last_work(stream)) wait_until(last.get());
}

std::vector<Origin> live_handles() {
  std::vector<Origin> live;
  for (const Handle* handle : handles) {
    if (!handle->is_destroyed()) live.push_back(handle->origin);
  }
  return live;
}

void drop_handles() {
  streams.clear();
  handles.clear();
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

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags, Where where) {
  *stream = new Stream{{Origin::now("cudaStreamCreate", where)}, flags != cudaStreamNonBlocking};
  handles.insert(*stream);
  streams.push_back(*stream);
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (!is_stream(stream)) return not_a_stream();
  if (auto e = refuse_while_capturing("cudaStreamSynchronize")) return e;
  // The default stream's last work comes after that of all blocking streams: an H200 waits for it.
  if (!stream) append(stream, {}, [] {}, {});
  wait_for_stream(stream);
  return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  if (!is_stream(stream)) return not_a_stream();
  if (auto e = refuse_while_capturing("cudaStreamQuery")) return e;
  if (!stream) {  // as an H200 answers: not ready as long as a blocking stream works
    for (Stream* other : streams) {
      if (other->blocking && other->last && !other->last->done) return query(other->last);
    }
  }
  return query(last_work(stream));
}
cudaError_t cudaStreamDestroy(cudaStream_t stream, Where where) {
  if (!stream || !is_stream(stream)) return not_a_stream();
  if (auto e = refuse_while_capturing("cudaStreamDestroy")) return e;
  stream->destroyed_at = where;  // what it was given goes on, and nothing waits for it here
  std::erase_if(streams,
                [](const Stream* s) { return s->is_destroyed() && (!s->last || s->last->done); });
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  if (!is_stream(stream)) return not_a_stream();
  if (auto e = check(event)) return e;
  if (const auto& capture = event->recorded_in; capture && !capture->ended) {
    if (!stream) return refuse_while_capturing("the default stream waits");
    if (!stream->capture) stream->capture = capture;  // the stream joins it
    stream->captured.insert(event->captured.begin(), event->captured.end());
    return cudaSuccess;
  }
  if (auto e = refuse_captured(event)) return e;
  if (event->work && is_capturing(stream)) {
    stream->capture->broken = true;
    return error(cudaErrorStreamCaptureIsolation, "the event was recorded outside of the capture");
  }
  if (event->work && !event->work->done) {
    append(stream, {}, [] {}, {})->after.insert(event->work);
  }
  return cudaSuccess;
}

// ---- events -------------------------------------------------------------------------------------

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned, Where where) {
  *event = new Event{{Origin::now("cudaEventCreate", where)}};
  handles.insert(*event);
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (!is_stream(stream)) return not_a_stream();
  if (auto e = check(event)) return e;
  if (stream && stream->capture) {
    event->recorded_in = stream->capture;
    event->captured = stream->captured;
    return cudaSuccess;
  }
  event->recorded_in = nullptr;
  event->work = append(stream, {}, [] {}, {});
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (auto e = check(event)) return e;
  if (auto e = refuse_while_capturing("cudaEventSynchronize")) return e;
  if (auto e = refuse_captured(event)) return e;
  if (event->work) wait_until(event->work.get());
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (auto e = check(event)) return e;
  if (auto e = refuse_while_capturing("cudaEventQuery")) return e;
  if (auto e = refuse_captured(event)) return e;
  return query(event->work);
}
cudaError_t cudaEventDestroy(cudaEvent_t event, Where where) {
  if (auto e = check(event)) return e;
  event->destroyed_at = where;
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
  for (const cudaEvent_t event : {start, end}) {
    if (auto e = check(event)) return e;
    if (auto e = refuse_captured(event)) return e;
  }
  if (!start->work || !end->work) {
    return error(cudaErrorInvalidResourceHandle, "an event that was not recorded");
  }
  if (!start->work->done || !end->work->done) {
    return error(cudaErrorNotReady, "wait for the event first: cudaEventSynchronize");
  }
  *ms = std::chrono::duration<float, std::milli>(end->work->done_at - start->work->done_at).count();
  return cudaSuccess;
}

// ---- graphs -------------------------------------------------------------------------------------

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  if (!stream) {
    return error(cudaErrorStreamCaptureUnsupported, "the default stream cannot be captured");
  }
  if (!is_stream(stream)) return not_a_stream();
  if (stream->capture) return error(cudaErrorIllegalState, "the stream is being captured already");
  stream->capture = std::make_shared<Capture>(Capture{stream});
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph, Where where) {
  *graph = nullptr;
  if (!stream || !is_stream(stream)) return not_a_stream();
  const auto capture = stream->capture;
  if (!capture) return error(cudaErrorIllegalState, "the stream is not being captured");
  if (capture->origin != stream) {
    return error(cudaErrorStreamCaptureUnmatched, "another stream began the capture");
  }
  // What the stream comes after, and what that comes after: all work but what was not joined.
  for (const auto& last : stream->captured) last->marked = true;
  bool joined = true;
  for (auto work = capture->work.rbegin(); work != capture->work.rend(); ++work) {
    joined &= (*work)->marked;
    for (const auto& before : (*work)->after) before->marked |= (*work)->marked;
    (*work)->after.clear();
  }
  for (Stream* s : streams) {
    if (s->capture != capture) continue;
    s->capture = nullptr;
    s->captured.clear();
  }
  capture->ended = true;
  if (capture->broken) {
    return error(cudaErrorStreamCaptureInvalidated, "a call in it was refused");
  }
  if (!joined) {
    return error(cudaErrorStreamCaptureUnjoined,
                 "a second stream has work that the first does not wait for");
  }
  *graph = new Graph{{Origin::now("cudaStreamEndCapture", where)}, capture->work};
  handles.insert(*graph);
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long,
                                 Where where) {
  if (auto e = check(graph)) return e;
  *exec = new GraphExec{{{Origin::now("cudaGraphInstantiate", where)}, graph->work}};
  handles.insert(*exec);
  return cudaSuccess;
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
  return error(cudaErrorGraphExecUpdateFailure, "the two graphs have different nodes");
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  if (auto e = check(exec)) return e;
  note("handed over", "graph");
  // On the stack what lies below this frame belonged to functions that have returned.
  constexpr std::ptrdiff_t kNear = 64 * 1024;
  const char* frame = static_cast<const char*>(__builtin_frame_address(0));
  for (const auto& work : exec->work) {
    for (const Use& use : work->uses) {
      if (!use.memory && use.begin < frame && frame - use.begin < kNear) {
        fail(report("ended_variable", work->where), "copies to a local variable of a function ",
             "that had returned when the graph was launched");
      }
    }
    if (auto e = enqueue(stream, work->where, work->run, work->uses, work->what)) return e;
  }
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph, Where where) { return destroy_graph(graph, where); }
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec, Where where) {
  return destroy_graph(exec, where);
}
