#pragma once

#include <cuda_on_cpu/stream.h>
#include <cuda_on_cpu/where.h>

#include <functional>
#include <utility>
#include <vector>

namespace cuda_on_cpu {

struct Allocation;

/// Memory that a piece of work uses.
struct Use {
  const Allocation* memory;
  bool writable;
};

/// Appends work to a stream; it runs when somebody waits for it. Between cudaStreamBeginCapture and
/// cudaStreamEndCapture it becomes part of a graph instead. `what` is "the kernel launched" or "the
/// copy made", say, for the line that is printed where nobody ever waited.
cudaError_t enqueue(cudaStream_t stream, Where where, std::function<void()> work,
                    std::vector<Use> uses = {});

/// Whether work for the stream becomes part of a graph now.
bool is_capturing(cudaStream_t stream);

/// Whether a kernel in the queue uses the memory: `where` it was launched (null: none does), and
/// whether it may write.
struct QueuedUse {
  const Where* where = nullptr;
  bool writable = false;
};
QueuedUse queued_use(const Allocation* memory);

/// Where the work that runs now was queued.
Where running_work();

/// The work that was never waited for: how much, and where the first of it was queued.
std::pair<int, Where> never_waited_for();

}  // namespace cuda_on_cpu
