#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include <lab/exit_codes.h>

#if LAB_HAVE_NCCL
#include <nccl.h>
#else
// If the lab is built without NCCL, its calls still compile. With the CPU instead of GPUs they
// also work, through MPI (LAB_HALOS=nccl asks for them, src/ranks/nccl_by_mpi.cpp has them).
// Elsewhere they fail, and no program makes them: has_nccl() of lab::Ranks is false.
struct ncclComm;
using ncclComm_t = ncclComm*;
enum ncclResult_t { ncclSuccess = 0, ncclInvalidArgument = 4, ncclInvalidUsage = 5 };
enum ncclDataType_t {
  ncclInt8 = 0,
  ncclChar = 0,
  ncclInt32 = 2,
  ncclInt = 2,
  ncclFloat32 = 7,
  ncclFloat = 7,
  ncclFloat64 = 8,
  ncclDouble = 8
};
enum ncclRedOp_t { ncclSum, ncclProd, ncclMax, ncclMin };
ncclResult_t ncclGroupStart();
ncclResult_t ncclGroupEnd();
ncclResult_t ncclSend(const void* from, std::size_t count, ncclDataType_t type, int to_rank,
                      ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclRecv(void* to, std::size_t count, ncclDataType_t type, int from_rank,
                      ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t type,
                           ncclRedOp_t operation, ncclComm_t comm, cudaStream_t stream);
const char* ncclGetErrorString(ncclResult_t result);

namespace lab {
/// What is wrong with the call that came to this result, for LAB_REPORT.
Report report_of_nccl(ncclResult_t result);
}  // namespace lab
#endif

/// Ends the job with one clear line if a call of NCCL failed, or has not returned within the
/// time limit of lab::Ranks: which call, at which line, why.
///
///   NCCL_CHECK(ncclSend(row, count, ncclFloat, north, ranks.nccl(), stream));
#define NCCL_CHECK(call) \
  (::lab::begin_nccl(#call), ::lab::check_nccl((call), #call, __FILE__, __LINE__))

namespace lab {

/// What NCCL_CHECK calls before the call and after it.
void begin_nccl(const char* call);
void check_nccl(ncclResult_t result, const char* call, const char* file, int line);

}  // namespace lab
