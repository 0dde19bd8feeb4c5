#include "job.h"

#include <algorithm>

#include <cuda_on_cpu/report.h>

namespace lab {
/// Rank 0: gets rows of the result from the rank that has them, n floats each, from row j on.
static void receive_rows(int owner, int j, int rows, int n, float* to) {
  const int ask[2] = {j, rows};
  std::vector<MPI_Request> requests(2);
  MPI_CHECK(MPI_Irecv(to, rows * n, MPI_FLOAT, owner, kRowsTag, MPI_COMM_WORLD, &requests[0]));
  MPI_CHECK(MPI_Isend(ask, 2, MPI_INT, owner, kAskTag, MPI_COMM_WORLD, &requests[1]));
  await(&requests, format("rank %d: it does not send its rows of the result", owner));
}

/// The other ranks: sends the rows that rank 0 asks for, until that has ended the run. Returns the
/// program's exit code.
static int send_rows(int n, const FetchRows& fetch) {
  std::vector<float> values;
  for (;;) {
    // Rank 0 may be busy with what it has, for long: no time limit.
    int ask[2];
    MPI_Request request;
    MPI_CHECK(MPI_Irecv(ask, 2, MPI_INT, 0, kAskTag, MPI_COMM_WORLD, &request));
    MPI_CHECK(wait_politely(&request, MPI_STATUS_IGNORE));
    const auto [j, rows] = ask;
    if (j < 0) return rows;
    values.resize(static_cast<std::size_t>(rows) * n);
    fetch(values.data(), j, rows);
    std::vector<MPI_Request> sent(1);
    MPI_CHECK(MPI_Isend(values.data(), rows * n, MPI_FLOAT, 0, kRowsTag, MPI_COMM_WORLD, &sent[0]));
    await(&sent, "rank 0: it does not take the rows of the result");
  }
}

int Ranks::finish(Run& run, int begin, int end, const FetchRows& fetch) {
  const int n = run.n();
  struct Rows {
    int begin, end;
  } own{begin, end};
  std::vector<Rows> rows_of(self.size);
  std::vector<MPI_Request> gather(1);
  MPI_CHECK(
      MPI_Iallgather(&own, 2, MPI_INT, rows_of.data(), 2, MPI_INT, MPI_COMM_WORLD, &gather[0]));
  await(&gather, "the other ranks: not all have reached the end of the run", "waits_sum");
  if (self.rank > 0) return send_rows(n, fetch);

  const int code = run.finish([&](float* to, int j, int count) {
    while (count > 0) {
      int owner = 0;
      while (owner < self.size && !(rows_of[owner].begin <= j && j < rows_of[owner].end)) ++owner;
      if (owner == self.size) {
        fail(kExitCudaError, Report{"no_owner"}, "no rank has row %d of the result", j);
      }
      const int part = std::min(count, rows_of[owner].end - j);
      if (owner == 0) {
        fetch(to, j, part);
      } else {
        receive_rows(owner, j, part, n, to);
      }
      to += static_cast<std::size_t>(part) * n;
      j += part;
      count -= part;
    }
  });
  const int over[2] = {-1, code};
  for (int r = 1; r < self.size; ++r) {
    MPI_CHECK(MPI_Send(over, 2, MPI_INT, r, kAskTag, MPI_COMM_WORLD));
  }
  return code;
}

}  // namespace lab
