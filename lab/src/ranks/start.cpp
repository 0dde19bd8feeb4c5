#include "job.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <lab/cuda_check.h>

namespace lab {

namespace {

constexpr int kMaxWaitSeconds = 86400;

void read_time_limit() {
  const std::string text = setting("LAB_EXCHANGE_SECONDS");
  if (text.empty()) return;
  char* end = nullptr;
  const long seconds = std::strtol(text.c_str(), &end, 10);
  if (*end != '\0' || seconds < 1 || seconds > kMaxWaitSeconds) {
    fail(kExitBadUsage, "LAB_EXCHANGE_SECONDS=%s: must be a whole number from 1 to %d",
         text.c_str(), kMaxWaitSeconds);
  }
  set_time_limit(static_cast<int>(seconds));
}

}  // namespace

/// A setting from the environment of rank 0.
std::string setting(const char* name) {
  char value[64] = "";
  const char* own = std::getenv(name);
  if (self.rank == 0 && own) std::snprintf(value, sizeof value, "%s", own);
  MPI_CHECK_START(MPI_Bcast(value, sizeof value, MPI_CHAR, 0, MPI_COMM_WORLD));
  return value;
}

Ranks::Ranks(int* argc, char*** argv, const char* step) : state_(std::make_unique<State>()) {
  set_program_name(step);
  self.program = step;
  // Open MPI reads out of another rank's memory, and says so on stderr where it may not (in a
  // container) or where that rank has just died; what there is to say then, we say in one line.
  setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", /*replace=*/0);
  int provided = 0;
  if (MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) {
    fail(kExitCudaError, "MPI does not start");
  }
  MPI_CHECK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  MPI_CHECK(MPI_Comm_rank(MPI_COMM_WORLD, &self.rank));
  MPI_CHECK(MPI_Comm_size(MPI_COMM_WORLD, &self.size));
  MPI_Comm node;
  MPI_CHECK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
  MPI_CHECK(MPI_Comm_rank(node, &self.rank_of_node));
  MPI_CHECK(MPI_Comm_size(node, &self.ranks_of_node));
  state_->node = self.rank;
  MPI_CHECK(MPI_Bcast(&state_->node, 1, MPI_INT, 0, node));
  start_to_watch(node);
  MPI_CHECK(MPI_Comm_free(&node));
  read_time_limit();
  if (kOnCpu) {
    // The ranks share the cores.
    const int cores = static_cast<int>(std::thread::hardware_concurrency());
    const std::string workers = std::to_string(std::max(1, cores / self.ranks_of_node));
    setenv("LAB_CPU_WORKERS", workers.c_str(), 0);
  }
}

Ranks::~Ranks() {
#if LAB_HAVE_NCCL
  if (self.comm) {
    NCCL_CHECK(ncclCommDestroy(self.comm));
    self.comm = nullptr;
  }
#endif
  CUDA_CHECK(cudaFreeHost(state_->to_others));
  CUDA_CHECK(cudaFreeHost(state_->from_others));
  CUDA_CHECK(cudaFreeHost(state_->sums));
  finalize();
}

int Ranks::rank() const { return self.rank; }
int Ranks::size() const { return self.size; }
bool Ranks::has_nccl() const { return self.comm != nullptr; }
ncclComm_t Ranks::nccl() const { return self.comm; }

void Ranks::require_rows(int n, int halo) const {
  if (self.size == 1 || n / self.size >= halo) return;
  fail(kExitBadUsage,
       "n = %d has too few rows for %d ranks: each needs %d, as many as its neighbour's halo; this "
       "n allows at most %d rank%s",
       n, self.size, halo, std::max(1, n / halo), n / halo > 1 ? "s" : "");
}

}  // namespace lab
