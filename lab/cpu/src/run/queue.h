#pragma once

#include <cuda_on_cpu/stream.h>
#include <cuda_on_cpu/where.h>

#include <functional>
#include <utility>
#include <vector>

namespace cuda_on_cpu {

struct Allocation;
struct Origin;

/// Memory that a piece of work uses: all of an allocation (a kernel), or some bytes of it (a copy).
struct Use {
  const Allocation* memory;  // null: the host's own, which a captured copy writes
  bool writable;
  const char* begin = nullptr;  // null: all of it
  std::size_t bytes = 0;

  bool has(const void* p) const { return !begin || (p >= begin && p < begin + bytes); }
};

/// Appends work to a stream; it runs when it is waited for. Between cudaStreamBeginCapture and
/// cudaStreamEndCapture it becomes part of a graph instead. `what` is "copy", say; null: a kernel.
cudaError_t enqueue(cudaStream_t stream, Where where, std::function<void()> work,
                    std::vector<Use> uses, const char* what = nullptr);

/// Whether work for the stream becomes part of a graph now.
bool is_capturing(cudaStream_t stream);

/// Whether work in the queue uses the memory, the byte at `address` of it (null: any byte): `where`
/// it was queued (null: none does), whether it may write, and what it is: "copy"; null: a kernel.
struct QueuedUse {
  const Where* where = nullptr;
  bool writable = false;
  const char* what = nullptr;
};
QueuedUse queued_use(const Allocation* memory, const void* address);

void wait_for_stream(cudaStream_t stream);

/// The calls that created the streams, events and graphs that are in use.
std::vector<Origin> live_handles();

/// For cudaDeviceReset: no stream, event or graph from before can be used any more.
void drop_handles();

/// Where the work that runs now was queued.
Where running_work();

/// The work that was never waited for: how much, and where the first of it was queued.
std::pair<int, Where> never_waited_for();

}  // namespace cuda_on_cpu
