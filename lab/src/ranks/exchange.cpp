#include "job.h"

#include <functional>
#include <numeric>

#include <cuda_on_cpu/report.h>

namespace lab {
namespace {

/// Asks `query` until it says that the GPU is done, the others have failed, or time is up.
void poll(const std::function<cudaError_t()>& query, const char* call) {
  begin_waiting("the other ranks: an exchange or a sum on the GPU does not end");
  cudaError_t error;
  for (int polls = 0; (error = query()) != cudaSuccess; ++polls) {
    if (error != cudaErrorNotReady) check_cuda(error, call, __FILE__, __LINE__);
    (void)cudaGetLastError();  // "not ready" is no error to be found later
#if LAB_HAVE_NCCL
    ncclResult_t result = ncclSuccess;
    if (self.comm && polls % 1000 == 999) ncclCommGetAsyncError(self.comm, &result);
    if (result != ncclSuccess) {
      const char* more = ncclGetLastError(self.comm);
      const std::string why = format("NCCL: %s%s%s", ncclGetErrorString(result),
                                     more && *more ? ": " : "", more ? more : "");
      ncclCommAbort(self.comm);  // so that its kernels end
      fail(kExitCudaError, "%s", why.c_str());
    }
#endif
  }
  end_waiting();
}

/// Whether an address of the step's was no place on this GPU; another error ends the job here.
bool no_such_place(cudaError_t error, const char* call) {
  if (error != cudaErrorInvalidValue) check_cuda(error, call, __FILE__, __LINE__);
  return error == cudaErrorInvalidValue;
}

/// Copies a halo's values from the GPU, or to it. If they do not lie in its memory, that is said of
/// the exchange, which the step's file describes.
void copy_halo(float* to, const float* from, const Halo& halo, cudaMemcpyKind kind,
               cudaStream_t stream) {
  const cudaError_t error = cudaMemcpyAsync(to, from, halo.values * sizeof(float), kind, stream);
  if (no_such_place(error, "cudaMemcpyAsync of a halo")) {
    Report report = report_of(error) ? *report_of(error) : Report{""};
    report.kind = "exchange_memory";
    report.flags = kind == cudaMemcpyDeviceToHost ? "sent" : "received";
    fail(kExitCudaError, report,
         "exchange of halos with rank %d: the values that are %s do not lie in the memory of this "
         "rank's field: %s (%s)",
         halo.rank, kind == cudaMemcpyDeviceToHost ? "sent" : "received", cudaGetErrorString(error),
         cudaGetErrorName(error));
  }
}

/// The same of a value that is summed over all ranks.
void copy_sum(double* to, const double* from, cudaMemcpyKind kind, cudaStream_t stream) {
  const cudaError_t error = cudaMemcpyAsync(to, from, sizeof(double), kind, stream);
  if (no_such_place(error, "cudaMemcpyAsync of a sum")) {
    fail(kExitCudaError, Report{"sum_memory"},
         "ranks.sum: its value is not a double in the GPU's memory: %s (%s)",
         cudaGetErrorString(error), cudaGetErrorName(error));
  }
}

}  // namespace

void Ranks::wait(cudaStream_t stream) {
  if (kOnCpu || self.size == 1) {  // on the CPU the work is done here and now, by this process
    CUDA_CHECK(cudaStreamSynchronize(stream));
  } else {
    poll([=] { return cudaStreamQuery(stream); }, "cudaStreamQuery(stream)");
  }
}

void Ranks::wait_for(cudaEvent_t event) {
  if (kOnCpu || self.size == 1) {
    CUDA_CHECK(cudaEventSynchronize(event));
  } else {
    poll([=] { return cudaEventQuery(event); }, "cudaEventQuery(event)");
  }
}

void Ranks::exchange_through_host(const std::vector<Halo>& halos, cudaStream_t stream) {
  if (halos.empty()) return;  // one rank has no neighbours: no reason to wait for the stream
  State::Halos& pinned = state_->halos[stream];
  std::size_t values = 0;
  for (const Halo& halo : halos) {
    if (halo.rank < 0 || halo.rank >= self.size) {
      Report report{"exchange_rank"};
      report.detail = format("it exchanges rows with rank %d, but there are only ranks 0 to %d",
                             halo.rank, self.size - 1);
      fail(kExitCudaError, report, "%s", report.detail.c_str());
    }
    values += halo.values;
  }
  if (values > pinned.values) {
    wait(stream);  // what came before may not have reached the GPU
    CUDA_CHECK(cudaFreeHost(pinned.to_others));
    CUDA_CHECK(cudaFreeHost(pinned.from_others));
    CUDA_CHECK(cudaMallocHost(&pinned.to_others, values * sizeof(float)));
    CUDA_CHECK(cudaMallocHost(&pinned.from_others, values * sizeof(float)));
    pinned.values = values;
  }

  std::size_t at = 0;
  for (const Halo& halo : halos) {
    copy_halo(pinned.to_others + at, halo.send, halo, cudaMemcpyDeviceToHost, stream);
    at += halo.values;
  }
  wait(stream);

  std::vector<MPI_Request> requests;
  std::string others;
  at = 0;
  for (const Halo& halo : halos) {
    const int count = static_cast<int>(halo.values);
    requests.resize(requests.size() + 2);
    MPI_CHECK(MPI_Irecv(pinned.from_others + at, count, MPI_FLOAT, halo.rank, kHaloTag,
                        MPI_COMM_WORLD, &requests[requests.size() - 2]));
    MPI_CHECK(MPI_Isend(pinned.to_others + at, count, MPI_FLOAT, halo.rank, kHaloTag,
                        MPI_COMM_WORLD, &requests.back()));
    at += halo.values;
    others += format("%srank %d", others.empty() ? "" : " or ", halo.rank);
  }
  await(&requests, others + ": no exchange of halos with it", "waits_halos");

  at = 0;
  for (const Halo& halo : halos) {
    copy_halo(halo.receive, pinned.from_others + at, halo, cudaMemcpyHostToDevice, stream);
    at += halo.values;
  }
}

double Ranks::sum(double value) {
#ifdef __CUDA_ON_CPU__
  cuda_on_cpu::note_library("Ranks::sum", sizeof(double));  // for who counts sums
#endif
  std::vector<double> all(self.size);
  std::vector<MPI_Request> gather(1);
  MPI_CHECK(
      MPI_Iallgather(&value, 1, MPI_DOUBLE, all.data(), 1, MPI_DOUBLE, MPI_COMM_WORLD, &gather[0]));
  await(&gather, "the other ranks: not all have reached the sum over the ranks", "waits_sum");
  // Added in the order of ranks: the same bits everywhere. Ranks that differ in the last one could
  // differ in whether they go on.
  return std::accumulate(all.begin(), all.end(), 0.0);
}

void Ranks::sum(double* value, cudaStream_t stream) {
  if (self.size == 1) return;
  double*& own = state_->sums[stream];
  if (!own) CUDA_CHECK(cudaMallocHost(&own, sizeof(double)));
  copy_sum(own, value, cudaMemcpyDeviceToHost, stream);
  wait(stream);
  *own = sum(*own);
  copy_sum(value, own, cudaMemcpyHostToDevice, stream);
}

}  // namespace lab
