#include "job.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <cuda_on_cpu/report.h>
#include <lab/cuda_check.h>
#include <lab/gpu_memory.h>
#include <lab/short_path.h>

namespace lab {
namespace {

bool true_for_all(bool here) {
  int own = here, all = 0;
  MPI_CHECK_START(MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD));
  return all != 0;
}

/// The lines of some ranks, in order, each printed once.
void add_notes(const std::string& own) {
  char text[200] = "";
  std::snprintf(text, sizeof text, "%s", own.c_str());
  std::vector<char> all(sizeof text * self.size);
  MPI_CHECK_START(MPI_Gather(text, sizeof text, MPI_CHAR, all.data(), sizeof text, MPI_CHAR, 0,
                             MPI_COMM_WORLD));
  for (int r = 0; self.rank == 0 && r < self.size; ++r) {
    if (const char* note = &all[r * sizeof text]; *note) add_note(note);
  }
}

/// What the memory of one GPU has to hold, where each rank has as many rows as the one with most.
std::size_t bytes_of_share(int n, int ranks, int halo, std::size_t bytes_per_point) {
  const std::size_t pitch = (static_cast<std::size_t>(n) + 31) / 32 * 32;
  const int rows = (n + ranks - 1) / ranks + (ranks > 1 ? 2 * halo : 0);
  return bytes_per_point * pitch * std::min(rows, n);
}

/// Where a rank computes.
struct Place {
  int node;
  char gpu[32];  // its address on the PCI bus of the node; empty with the CPU in its place
};

bool same_gpu(const Place& a, const Place& b) {
  return a.node == b.node && std::strcmp(a.gpu, b.gpu) == 0;
}

std::vector<Place> gather_places(int node, [[maybe_unused]] int device) {
  Place own{node, ""};
#ifndef __CUDA_ON_CPU__
  CUDA_CHECK(cudaDeviceGetPCIBusId(own.gpu, sizeof own.gpu, device));
#endif
  std::vector<Place> places(self.size);
  MPI_CHECK_START(MPI_Allgather(&own, sizeof own, MPI_BYTE, places.data(), sizeof own, MPI_BYTE,
                                MPI_COMM_WORLD));
  return places;
}

/// How many ranks have the same GPU, by rank.
std::vector<int> count_sharers(const std::vector<Place>& places) {
  std::vector<int> sharers;
  for (const Place& own : places) {
    sharers.push_back(static_cast<int>(std::count_if(
        places.begin(), places.end(), [&](const Place& other) { return same_gpu(own, other); })));
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
  config.maxCTAs = 2 * kNcclBlocks;  // a slab has two neighbours at most
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

/// A line where this rank's GPU does not reach that of the next one; empty where it does, or where
/// nothing can be said.
std::string describe_way_north([[maybe_unused]] const std::vector<Place>& places,
                               [[maybe_unused]] int device) {
#ifndef __CUDA_ON_CPU__
  const int north = self.rank + 1;
  if (north == self.size) return "";
  const Place &own = places[self.rank], &next = places[north];
  if (next.node != own.node || same_gpu(own, next)) return "";
  int other = 0, reaches = 1;
  if (cudaDeviceGetByPCIBusId(&other, next.gpu) != cudaSuccess) {
    (void)cudaGetLastError();  // a rank may not see the others' GPUs at all
    return "";
  }
  CUDA_CHECK(cudaDeviceCanAccessPeer(&reaches, device, other));
  if (!reaches) {
    return format(
        "note: the GPUs of ranks %d and %d cannot reach each other directly: what "
        "they exchange goes through the host",
        self.rank, north);
  }
#endif
  return "";
}

}  // namespace

void begin_nccl(const char* call) {
  begin_waiting(format("%s, which NCCL has not ended: do all ranks make the same calls, in the "
                       "same order?",
                       call),
                1, "waits_nccl");
}

void check_nccl(ncclResult_t result, const char* call, const char* file, int line) {
#if LAB_HAVE_NCCL
  while (result == ncclInProgress && self.comm) {
    const ncclResult_t asked = ncclCommGetAsyncError(self.comm, &result);
    if (asked != ncclSuccess) result = asked;
  }
  end_waiting();
  if (result == ncclSuccess) return;
  const char* more = ncclGetLastError(self.comm);
  Report report{result == ncclInvalidUsage ? "nccl_usage" : "nccl"};
#else
  end_waiting();
  if (result == ncclSuccess) return;
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
  self.together = true_for_all(error != cudaSuccess);
  check_cuda(error, "cudaGetDeviceCount(&devices)", __FILE__, __LINE__);
  const int device = self.rank_of_node % devices;
  CUDA_CHECK(cudaSetDevice(device));
  cudaDeviceProp properties;
  CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
  state_->gpu_name = properties.name;

  const std::vector<Place> places = gather_places(state_->node, device);
  state_->sharers = count_sharers(places);
  choose_way_of_halos(*std::max_element(state_->sharers.begin(), state_->sharers.end()) == 1);
  add_notes(describe_way_north(places, device));
  state_->connected = true;
}

void Ranks::require_gpu_memory(int n, int halo, std::size_t bytes_per_point) const {
  if (!state_->connected) {
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
  int fits = 0;  // the largest n of which a share fits
  static_assert((kMaxN & (kMaxN - 1)) == 0, "its halves reach every n");
  for (int step = kMaxN; step > 0; step /= 2) {
    if (fits + step <= kMaxN &&
        bytes_of_share(fits + step, self.size, halo, bytes_per_point) <= usable) {
      fits += step;
    }
  }
  // More ranks do, where each brings a GPU.
  const std::size_t of_gpu = usable * sharers;
  const int most_ranks = n / std::max(halo, 1);
  int ranks = sharers > 1 ? 1 : self.size + 1;
  while (ranks <= most_ranks && bytes_of_share(n, ranks, halo, bytes_per_point) > of_gpu) ++ranks;
  self.together = true;
  fail(kExitDoesNotFit,
       "n = %d on %d rank%s needs %.1f GB of GPU memory in each, and %s has %.1f GB free%s: the "
       "largest n that fits is %d; %s",
       n, self.size, self.size > 1 ? "s" : "", 1e-9 * needed, state_->gpu_name.c_str(),
       1e-9 * usable, sharers > 1 ? " for each" : "", fits,
       ranks <= most_ranks
           ? format("this n needs %d GPU%s, one rank per GPU", ranks, ranks > 1 ? "s" : "").c_str()
           : "for this n no number of GPUs is enough");
}

}  // namespace lab
