#include "job.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <cuda_on_cpu/machine.h>
#include <cuda_on_cpu/report.h>
#include <lab/command_line.h>
#include <lab/gpu_memory.h>
#include <lab/short_path.h>

namespace lab {
namespace {

/// A setting from the environment of rank 0.
std::string setting(const char* name) {
  char value[64] = "";
  const char* own = std::getenv(name);
  if (self.rank == 0 && own) std::snprintf(value, sizeof value, "%s", own);
  MPI_CHECK_START(MPI_Bcast(value, sizeof value, MPI_CHAR, 0, MPI_COMM_WORLD));
  return value;
}

/// What the memory of one GPU has to hold, where each rank has as many rows as the one with most.
std::size_t bytes_of_share(int n, int ranks, int halo, std::size_t bytes_per_point) {
  const std::size_t pitch = (static_cast<std::size_t>(n) + 31) / 32 * 32;
  const int rows = (n + ranks - 1) / ranks + (ranks > 1 ? 2 * halo : 0);
  return bytes_per_point * pitch * std::min(rows, n);
}

/// How many ranks have the same GPU, by rank.
std::vector<int> count_sharers(int node, [[maybe_unused]] int device) {
  char gpu[32] = "";  // its address on the PCI bus of the node; empty with the CPU in its place
#ifndef __CUDA_ON_CPU__
  CUDA_CHECK(cudaDeviceGetPCIBusId(gpu, sizeof gpu, device));
#endif
  std::array<char, 64> own{};
  std::snprintf(own.data(), own.size(), "node %d, GPU %s", node, gpu);
  std::vector<std::array<char, 64>> all(self.size);
  MPI_CHECK_START(MPI_Allgather(own.data(), sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE,
                                MPI_COMM_WORLD));
  std::vector<int> sharers;
  for (const auto& place : all) {
    sharers.push_back(static_cast<int>(std::count(all.begin(), all.end(), place)));
  }
  return sharers;
}

/// Why NCCL cannot or shall not do it; empty where it does. `wish`: LAB_HALOS.
std::string why_not_nccl(const std::string& wish, bool own_gpus) {
  if (kOnCpu) return "the CPU stands in";
  if (wish == "mpi") return "LAB_HALOS asks for it";
  if (!LAB_HAVE_NCCL) return "built without NCCL";
  if (!own_gpus) return "ranks share a GPU";
  return "";
}

/// Makes the communicator of all ranks. Returns what to tell of it.
std::string connect_by_nccl() {
#if LAB_HAVE_NCCL
  ncclUniqueId id{};
  if (self.rank == 0) NCCL_CHECK(ncclGetUniqueId(&id));
  MPI_CHECK_START(MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD));
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  // Where a rank does not come, the thread that watches ends this call. A communicator that does
  // not block would pay for that with a thread for each group of calls.
  config.blocking = 1;
  // By default NCCL launches clusters of 4 blocks on compute capability 9.0, and more of them than
  // a halo needs. A cluster starts only when one part of the GPU has room for all of it.
  config.cgaClusterSize = 1;
  // 2 blocks for each neighbour. NCCL divides its blocks among all ranks, in powers of 2, though a
  // rank has two neighbours at most.
  config.maxCTAs = 2;
  for (int ranks = 1; ranks < self.size; ranks *= 2) config.maxCTAs *= 2;
  begin_waiting("NCCL, whose ranks do not find each other", kTimesToStart);
  check_nccl(ncclCommInitRankConfig(&self.comm, self.size, id, self.rank, &config),
             "ncclCommInitRankConfig", __FILE__, __LINE__);
  int version = 0;
  NCCL_CHECK(ncclGetVersion(&version));
  return format("halos: NCCL %d.%d.%d, each rank has its own GPU", version / 10000,
                version / 100 % 100, version % 100);
#else
  return "";  // why_not_nccl has said why
#endif
}

/// Finds the way that halos take, and notes which.
void choose_way_of_halos(bool own_gpus) {
  const std::string wish = setting("LAB_HALOS");
  if (!wish.empty() && wish != "mpi" && wish != "nccl") {
    fail(kExitBadUsage, "LAB_HALOS=%s: must be nccl or mpi", wish.c_str());
  }
  if (self.size == 1) return;
  const std::string why_not = why_not_nccl(wish, own_gpus);
  std::string note;
  if (why_not.empty()) {
    note = connect_by_nccl();
  } else if (kOnCpu && wish == "nccl") {
    static char stand_in;  // the calls need one, and look into none
    self.comm = reinterpret_cast<ncclComm_t>(&stand_in);
    note = "halos: NCCL's calls, performed by MPI: the CPU stands in";
  } else {
    note = "halos: MPI, on copies in host memory: " + why_not;
  }
  if (self.rank == 0) add_note(note);
}

}  // namespace

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
  const std::string seconds = setting("LAB_EXCHANGE_SECONDS");
  if (!seconds.empty()) {
    self.wait_seconds =
        static_cast<int>(CommandLine::read_integer("LAB_EXCHANGE_SECONDS=", seconds, 1, 86400));
  }
  if (kOnCpu) {
    // The ranks share the cores.
    const int workers_of_rank = std::max(1, cuda_on_cpu::usable_cores() / self.ranks_of_node);
    const std::string workers = std::to_string(workers_of_rank);
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
  for (const auto& [stream, halos] : state_->halos) {
    CUDA_CHECK(cudaFreeHost(halos.to_others));
    CUDA_CHECK(cudaFreeHost(halos.from_others));
  }
  for (const auto& [stream, sum] : state_->sums) CUDA_CHECK(cudaFreeHost(sum));
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

void begin_nccl(const char* call) {
  begin_waiting(format("%s, which NCCL has not ended: do all ranks make the same calls, in the "
                       "same order?",
                       call),
                1, "waits_nccl");
}

void check_nccl(ncclResult_t result, const char* call, const char* file, int line) {
  end_waiting();
  if (result == ncclSuccess) return;
#if LAB_HAVE_NCCL
  const char* more = ncclGetLastError(self.comm);
  Report report{result == ncclInvalidUsage ? "nccl_usage" : "nccl"};
#else
  const char* more = nullptr;
  Report report = report_of_nccl(result);
#endif
  report.file = short_path(file);
  report.line = line;
  report.array = call;
  fail(kExitCudaError, report, "%s:%d: %s: %s%s%s", short_path(file), line, call,
       ncclGetErrorString(result), more && *more ? ": " : "", more ? more : "");
}

void Ranks::connect() {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  const int failed = error != cudaSuccess;
  int all_failed = 0;
  MPI_CHECK_START(MPI_Allreduce(&failed, &all_failed, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD));
  self.together = all_failed != 0;
  check_cuda(error, "cudaGetDeviceCount(&devices)", __FILE__, __LINE__);
  const int device = self.rank_of_node % devices;
  CUDA_CHECK(cudaSetDevice(device));
  cudaDeviceProp properties;
  CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
  state_->gpu_name = properties.name;

  state_->sharers = count_sharers(state_->node, device);
  choose_way_of_halos(*std::max_element(state_->sharers.begin(), state_->sharers.end()) == 1);
}

void Ranks::require_gpu_memory(int n, int halo, std::size_t bytes_per_point) const {
  if (state_->sharers.empty()) {
    fail(kExitCudaError, "this rank has no GPU yet: ranks.connect() is missing");
  }
  std::size_t free_bytes = 0, total_bytes = 0;
  CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
  const int sharers = state_->sharers[self.rank];
  const std::uint64_t own = usable_gpu_memory(free_bytes) / sharers;
  std::uint64_t usable = 0;
  MPI_CHECK_START(MPI_Allreduce(&own, &usable, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD));
  set_device(state_->gpu_name + (self.size > 1 ? ", " + std::to_string(self.size) + " ranks" : ""),
             !kOnCpu);

  const std::size_t needed = bytes_of_share(n, self.size, halo, bytes_per_point);
  if (needed <= usable) return;
  int fits = n;  // the largest n of which a share fits
  while (bytes_of_share(fits, self.size, halo, bytes_per_point) > usable) --fits;
  self.together = true;
  fail(kExitDoesNotFit,
       "n = %d on %d rank%s needs %.1f GB of GPU memory in each, and %s has %.1f GB free%s: the "
       "largest n that fits is %d",
       n, self.size, self.size > 1 ? "s" : "", 1e-9 * needed, state_->gpu_name.c_str(),
       1e-9 * usable, sharers > 1 ? " for each" : "", fits);
}

}  // namespace lab
