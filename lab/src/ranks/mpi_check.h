#pragma once

#include <mpi.h>

#include <lab/exit_codes.h>

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

}  // namespace lab
