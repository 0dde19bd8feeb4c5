#pragma once

#include <lab/nccl_check.h>
#include <lab/options.h>
#include <lab/problem.h>
#include <lab/run.h>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace lab {

/// What one rank gives to another, and gets from it: the same number of values, both in the memory
/// of its GPU.
struct Halo {
  int rank;           ///< the other one
  const float* send;  ///< where its values stand
  float* receive;     ///< where the other rank's values go
  std::size_t values;
};

/// The processes, the ranks, that compute one field together: a GPU for each of them, and what NCCL
/// and MPI need around the calls that a step teaches. A job is started by
///
///   mpirun -n 4 build/bin/solution_14_multi_gpu --n 32768
///
/// and a program that is started without it is a job of one rank. Rank 0 prints and writes for all.
///
/// Whatever ends one rank ends them all, within seconds and with one line that names the rank: an
/// error, a rank that dies, or one that others have awaited for LAB_EXCHANGE_SECONDS (20; on
/// the CPU 600, or 3 if all ranks, on one node, wait for each other).
class Ranks {
 public:
  /// Starts MPI.
  Ranks(int* argc, char*** argv, const char* step = LAB_STEP_NAME);
  /// Frees what it holds and ends MPI.
  ~Ranks();

  int rank() const;  ///< of this process: 0 to size() - 1
  int size() const;  ///< how many there are

  /// Ends the job with exit code 2 if a share of n rows is smaller than the halo that its
  /// neighbour needs of it.
  void require_rows(int n, int halo) const;

  /// Gives this rank a GPU: ranks of one node take the node's GPUs in turn. Then finds the way that
  /// halos take: NCCL if each rank has a GPU of its own, else MPI on copies in host memory.
  /// LAB_HALOS=mpi asks for MPI. With the CPU instead of GPUs, MPI is the default;
  /// LAB_HALOS=nccl then asks for NCCL's calls, which MPI performs.
  void connect();

  /// Ends the job with exit code 5 if a rank's share of n x n points, and a halo of that many rows
  /// on both sides, does not fit in its GPU's free memory: bytes_per_point for each point.
  void require_gpu_memory(int n, int halo, std::size_t bytes_per_point) const;

  bool has_nccl() const;    ///< whether halos and sums go by NCCL
  ncclComm_t nccl() const;  ///< its communicator of all ranks; null without NCCL

  /// Without NCCL: sends and receives all of them, through host memory, when what is in the stream
  /// is done. What was received is there for what comes later in the stream.
  void exchange_through_host(const std::vector<Halo>& halos, cudaStream_t stream);

  /// The sum of the ranks' values, the same bits in each rank. Waits until all have called it.
  double sum(double value);

  /// Without NCCL: the same of a value on the GPU, when what is in the stream is done.
  void sum(double* value, cudaStream_t stream);

  /// Waits until all that is in the stream is done, but not for ever.
  void wait(cudaStream_t stream);
  /// The same until what was in the stream before the event is done, and no more.
  void wait_for(cudaEvent_t event);

  /// Ends the run. Of the result this rank has the rows from `begin` on and before `end`, which
  /// `fetch` copies (its j is the whole field's). Rank 0 asks for a few at a time. Returns the
  /// program's exit code, in every rank.
  int finish(Run& run, int begin, int end, const FetchRows& fetch);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lab
