#pragma once

// What the parts of lab::Ranks share.

#include <lab/cuda_check.h>
#include <lab/format.h>
#include <lab/ranks.h>

#include <map>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include <mpi.h>

/// Ends the job with one clear line where a call of MPI failed: which call, why.
///
///   MPI_CHECK(MPI_Barrier(MPI_COMM_WORLD));
#define MPI_CHECK(call) ::lab::check_mpi((call), #call)

namespace lab {

/// What MPI_CHECK calls. Exit code 3.
inline void check_mpi(int error, const char* call) {
  if (error == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(error, text, &length);
  fail(kExitCudaError, "%s: %s", call, text);
}

enum Tag { kHaloTag = 1, kAskTag, kRowsTag };

/// This process in its job. The thread that watches over the job and the handler of SIGTERM look at
/// it, too, so there is one of it, and it stays until the process has ended.
struct Self {
  std::string program = "jacobi";
  int rank = 0, size = 1;
  int rank_of_node = 0, ranks_of_node = 1;
  int wait_seconds = kOnCpu ? 600 : 20;  ///< for another rank; the CPU is slow, some ranks slower
  bool together = false;                 ///< all ranks see the same mistake: rank 0 speaks for them
  ncclComm_t comm = nullptr;
};
extern Self& self;

/// From now on this rank's end ends the job, and the job's end this rank. `node`: its ranks.
void start_to_watch(MPI_Comm node);
/// Ends MPI, where all ranks come here, at the program's end.
void finalize();

/// Between the two calls the thread that watches holds the time limit, `times` it, against what
/// this rank waits for. `kind`: of the report.
void begin_waiting(std::string what, int times = 1, const char* kind = "waits");
void end_waiting();

/// MPI_CHECK of a call at the start of the job, in which each rank waits for all others. They may
/// come some times the limit apart: GPUs, and many nodes, take longer than any exchange.
constexpr int kTimesToStart = 6;
#define MPI_CHECK_START(call)                                                                  \
  (begin_waiting("the other ranks: not all have reached the start of the job", kTimesToStart), \
   MPI_CHECK(call), end_waiting())

/// Waits for one request in a loop, which at first burns time, which is soonest, and then sleeps.
/// Returns what MPI_Test does.
int wait_politely(MPI_Request* request, MPI_Status* status);

/// Waits for all of them; `what` is said where they take too long.
void await(std::vector<MPI_Request>* requests, const std::string& what, const char* kind = "waits");

struct Ranks::State {
  int node = 0;              // the world's rank of the node's first
  std::vector<int> sharers;  // how many ranks have the same GPU, by rank; empty before connect()
  std::string gpu_name;
  // Pinned, and kept for the run: what goes to other ranks, and what comes from them. Each stream
  // has its own, because what another one copies may still be on its way.
  struct Halos {
    float *to_others = nullptr, *from_others = nullptr;
    std::size_t values = 0;  // that each has room for
  };
  std::map<cudaStream_t, Halos> halos;
  std::map<cudaStream_t, double*> sums;
};

}  // namespace lab
