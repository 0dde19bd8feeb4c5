// NCCL's calls where the lab is built without NCCL. With the CPU in place of GPUs they work, by
// MPI, so that a step's calls can be tried without a GPU; elsewhere they fail.
#include <lab/nccl_check.h>

#if !LAB_HAVE_NCCL

#include <cuda_on_cpu/report.h>
#include <cuda_runtime.h>
#include <lab/exit_codes.h>

static lab::Report why_invalid{""};  // an argument is: no kind, or more than the result says

#ifdef __CUDA_ON_CPU__

#include <algorithm>
#include <utility>
#include <vector>

#include <lab/cuda_check.h>

#include "job.h"

namespace {

/// A send or a receive of a group.
struct Message {
  const char* from;  // null: it is received
  char* to;
  std::size_t bytes;
  int rank;
  cudaStream_t stream;
};
std::vector<Message> group;
int groups_open = 0;

constexpr int kTag = 100;

MPI_Datatype type_of(ncclDataType_t type) {
  return type == ncclDouble  ? MPI_DOUBLE
         : type == ncclFloat ? MPI_FLOAT
         : type == ncclInt   ? MPI_INT
                             : MPI_INT8_T;
}

std::size_t size_of(ncclDataType_t type) {
  return type == ncclDouble ? 8 : type == ncclFloat || type == ncclInt ? 4 : 1;
}

/// Whether the argument of a call, `what`, is that many bytes of the GPU's memory.
bool on_gpu(const void* memory, std::size_t bytes, const char* what) {
  const cudaError_t error = cuda_on_cpu::check_device_memory(memory, bytes, what);
  if (error == cudaSuccess) return true;
  why_invalid = *cuda_on_cpu::report_of(error);
  why_invalid.kind = "nccl_memory";
  why_invalid.words = cudaGetErrorString(error);
  (void)cudaGetLastError();  // NCCL's result says it
  return false;
}

/// As NCCL's calls do, those here put their work into the stream, and return: it is done when the
/// stream comes to it. Who waits for other ranks for ever is found by the thread that watches.
template <class Work>
void enqueue(cudaStream_t stream, const char* call, Work work) {
  CUDA_CHECK(cuda_on_cpu::enqueue_beside(stream, call, [=] {
    lab::begin_nccl(call);
    work();
    lab::check_nccl(ncclSuccess, call, __FILE__, __LINE__);
  }));
}

/// All messages at once. A send ends when the other side receives, as NCCL's does.
void exchange(const std::vector<Message>& messages) {
  std::vector<MPI_Request> requests(messages.size());
  for (std::size_t k = 0; k < messages.size(); ++k) {
    const Message& message = messages[k];
    const int bytes = static_cast<int>(message.bytes);
    if (message.from) {
      MPI_CHECK(MPI_Issend(message.from, bytes, MPI_BYTE, message.rank, kTag, MPI_COMM_WORLD,
                           &requests[k]));
      cuda_on_cpu::note_library("ncclSend", message.bytes);
    } else {
      MPI_CHECK(
          MPI_Irecv(message.to, bytes, MPI_BYTE, message.rank, kTag, MPI_COMM_WORLD, &requests[k]));
    }
  }
  for (std::size_t k = 0; k < messages.size(); ++k) {
    const Message& message = messages[k];
    MPI_Status status{};
    const int error = lab::wait_politely(&requests[k], &status);
    if (message.from) {
      lab::check_mpi(error, "MPI_Test");
      continue;
    }
    int got = 0;
    MPI_CHECK(MPI_Get_count(&status, MPI_BYTE, &got));
    if (error != MPI_SUCCESS || static_cast<std::size_t>(got) != message.bytes) {
      lab::fail(lab::kExitCudaError, lab::Report{"nccl_counts"},
                "ncclRecv of %zu bytes from rank %d, which sends %s: that is undefined in NCCL",
                message.bytes, message.rank, error != MPI_SUCCESS ? "more" : "fewer");
    }
    cuda_on_cpu::written(message.to, message.bytes);
  }
}

void enqueue_group() {
  const std::vector<Message> messages = std::move(group);
  group.clear();
  if (messages.empty()) return;
  const cudaStream_t stream = messages[0].stream;
  bool one_stream = true;
  for (const Message& message : messages) {
    if (message.stream == stream) continue;
    one_stream = false;
    CUDA_CHECK(cudaStreamSynchronize(message.stream));  // what comes before
  }
  const bool sends = std::any_of(messages.begin(), messages.end(), [](auto& m) { return m.from; });
  const char* call = sends ? "ncclSend" : "ncclRecv";
  enqueue(stream, call, [=] { exchange(messages); });
  if (!one_stream) CUDA_CHECK(cudaStreamSynchronize(stream));
}

ncclResult_t add(const Message& message, ncclComm_t comm) {
  if (!comm) return ncclInvalidUsage;
  if (message.rank < 0 || message.rank >= lab::job.size) return ncclInvalidArgument;
  const void* memory = message.from ? message.from : message.to;
  const char* what = message.from ? "first argument of ncclSend" : "first argument of ncclRecv";
  if (!on_gpu(memory, message.bytes, what)) return ncclInvalidArgument;
  group.push_back(message);
  if (groups_open == 0) enqueue_group();
  return ncclSuccess;
}

void reduce_over_ranks(const void* from, void* to, std::size_t count, ncclDataType_t type,
                       ncclRedOp_t operation) {
  const MPI_Op operations[] = {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN};  // as in ncclRedOp_t
  MPI_Request request;
  MPI_CHECK(MPI_Iallreduce(from == to ? MPI_IN_PLACE : from, to, static_cast<int>(count),
                           type_of(type), operations[operation], MPI_COMM_WORLD, &request));
  lab::check_mpi(lab::wait_politely(&request, MPI_STATUS_IGNORE), "MPI_Iallreduce");
  cuda_on_cpu::written(to, count * size_of(type));
  cuda_on_cpu::note_library("ncclAllReduce", count * size_of(type));
}

}  // namespace

ncclResult_t ncclGroupStart() {
  ++groups_open;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (groups_open == 0) return ncclInvalidUsage;
  if (--groups_open == 0) enqueue_group();
  return ncclSuccess;
}

ncclResult_t ncclSend(const void* from, std::size_t count, ncclDataType_t type, int to_rank,
                      ncclComm_t comm, cudaStream_t stream) {
  if (!from) return ncclInvalidArgument;
  return add({static_cast<const char*>(from), nullptr, count * size_of(type), to_rank, stream},
             comm);
}

ncclResult_t ncclRecv(void* to, std::size_t count, ncclDataType_t type, int from_rank,
                      ncclComm_t comm, cudaStream_t stream) {
  if (!to) return ncclInvalidArgument;
  return add({nullptr, static_cast<char*>(to), count * size_of(type), from_rank, stream}, comm);
}

ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t type,
                           ncclRedOp_t operation, ncclComm_t comm, cudaStream_t stream) {
  if (!comm) return ncclInvalidUsage;
  const std::size_t bytes = count * size_of(type);
  if (!on_gpu(from, bytes, "first argument of ncclAllReduce") ||
      !on_gpu(to, bytes, "second argument of ncclAllReduce")) {
    return ncclInvalidArgument;
  }
  enqueue(stream, "ncclAllReduce", [=] { reduce_over_ranks(from, to, count, type, operation); });
  return ncclSuccess;
}

#else

ncclResult_t ncclGroupStart() { return ncclInvalidUsage; }
ncclResult_t ncclGroupEnd() { return ncclInvalidUsage; }
ncclResult_t ncclSend(const void*, std::size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t) {
  return ncclInvalidUsage;
}
ncclResult_t ncclRecv(void*, std::size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t) {
  return ncclInvalidUsage;
}
ncclResult_t ncclAllReduce(const void*, void*, std::size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t,
                           cudaStream_t) {
  return ncclInvalidUsage;
}

#endif

lab::Report lab::report_of_nccl(ncclResult_t result) {
  if (result == ncclInvalidUsage) return {"nccl_usage"};
  return why_invalid.kind.empty() ? Report{"nccl_argument"} : why_invalid;
}

const char* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess:
      return "no error";
    case ncclInvalidArgument:
      if (!why_invalid.kind.empty()) return why_invalid.words.c_str();
      return "invalid argument (a null pointer, or a rank that does not exist)";
    case ncclInvalidUsage:
      return "invalid usage (no communicator: is ranks.has_nccl() true? or a group that was not "
             "started)";
  }
  return "unknown result";
}

#endif
