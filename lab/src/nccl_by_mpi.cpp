// NCCL's calls where the lab is built without NCCL. With the CPU in place of GPUs they work, by MPI,
// so that a step's calls can be tried without a GPU; elsewhere they fail.
#include <lab/nccl_check.h>

#if !LAB_HAVE_NCCL

#include <cuda_runtime.h>
#include <mpi.h>

#include <cstring>
#include <vector>

#include <lab/cuda_check.h>
#include <lab/exit_codes.h>

namespace {

/// A send or a receive of a group.
struct Message {
  const void* from;  // null: it is received
  void* to;
  std::size_t bytes;
  int rank;
  cudaStream_t stream;
};
std::vector<Message> group;
int groups_open = 0;

constexpr int kTag = 100;

std::size_t size_of(ncclDataType_t type) { return type == ncclDouble ? 8 : 4; }

int job_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

/// All messages of a group at once. A send ends when the other side receives, as NCCL's does.
/// (Whoever waits here for ever is found by the thread that watches; see begin_nccl.)
void exchange() {
  std::vector<std::vector<char>> host(group.size());
  std::vector<MPI_Request> requests(group.size());
  for (std::size_t k = 0; k < group.size(); ++k) {
    const Message& message = group[k];
    host[k].resize(message.bytes);
    CUDA_CHECK(cudaStreamSynchronize(message.stream));  // what comes before in the stream
    const int bytes = static_cast<int>(message.bytes);
    if (message.from) {
      CUDA_CHECK(cudaMemcpy(host[k].data(), message.from, message.bytes, cudaMemcpyDeviceToHost));
      MPI_Issend(host[k].data(), bytes, MPI_BYTE, message.rank, kTag, MPI_COMM_WORLD, &requests[k]);
    } else {
      MPI_Irecv(host[k].data(), bytes, MPI_BYTE, message.rank, kTag, MPI_COMM_WORLD, &requests[k]);
    }
  }
  for (std::size_t k = 0; k < group.size(); ++k) {
    const Message& message = group[k];
    MPI_Status status{};
    const int error = MPI_Wait(&requests[k], &status);
    if (message.from) continue;
    int got = 0;
    MPI_Get_count(&status, MPI_BYTE, &got);
    if (error != MPI_SUCCESS || static_cast<std::size_t>(got) != message.bytes) {
      lab::fail(lab::kExitCudaError,
                "ncclRecv of %zu bytes from rank %d: it sends %s: that is undefined in NCCL",
                message.bytes, message.rank, error != MPI_SUCCESS ? "more" : "fewer");
    }
    CUDA_CHECK(cudaMemcpy(message.to, host[k].data(), message.bytes, cudaMemcpyHostToDevice));
  }
  group.clear();
}

ncclResult_t add(const Message& message, ncclComm_t comm) {
  if (!comm) return ncclInvalidUsage;
  if (message.rank < 0 || message.rank >= job_size()) return ncclInvalidArgument;
  group.push_back(message);
  if (groups_open == 0) exchange();
  return ncclSuccess;
}

template <class T>
void sum_over_ranks(const void* from, void* to, std::size_t count) {
  const int size = job_size();
  std::vector<T> own(count), all(count * size), sum(count);
  CUDA_CHECK(cudaMemcpy(own.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost));
  const int bytes = static_cast<int>(count * sizeof(T));
  MPI_Allgather(own.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, MPI_COMM_WORLD);
  for (std::size_t k = 0; k < all.size(); ++k) sum[k % count] += all[k];
  CUDA_CHECK(cudaMemcpy(to, sum.data(), count * sizeof(T), cudaMemcpyHostToDevice));
}

}  // namespace

ncclResult_t ncclGroupStart() {
  ++groups_open;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (groups_open == 0) return ncclInvalidUsage;
  if (--groups_open == 0) exchange();
  return ncclSuccess;
}

ncclResult_t ncclSend(const void* from, std::size_t count, ncclDataType_t type, int to_rank,
                      ncclComm_t comm, cudaStream_t stream) {
  if (!from) return ncclInvalidArgument;
  return add({from, nullptr, count * size_of(type), to_rank, stream}, comm);
}

ncclResult_t ncclRecv(void* to, std::size_t count, ncclDataType_t type, int from_rank,
                      ncclComm_t comm, cudaStream_t stream) {
  if (!to) return ncclInvalidArgument;
  return add({nullptr, to, count * size_of(type), from_rank, stream}, comm);
}

ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t type,
                           ncclRedOp_t, ncclComm_t comm, cudaStream_t stream) {
  if (!comm) return ncclInvalidUsage;
  CUDA_CHECK(cudaStreamSynchronize(stream));
  if (type == ncclDouble) {
    sum_over_ranks<double>(from, to, count);
  } else {
    sum_over_ranks<float>(from, to, count);
  }
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess:
      return "no error";
    case ncclInvalidArgument:
      return "invalid argument (a null pointer, or a rank that there is not)";
    case ncclInvalidUsage:
      return "invalid usage (no communicator: is ranks.has_nccl() true? or a group that was not "
             "started)";
  }
  return "unknown result";
}

#endif
