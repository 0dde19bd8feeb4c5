#include <lab/ranks.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <condition_variable>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cuda_runtime.h>

#include <cuda_on_cpu/report_file.h>
#include <lab/cuda_check.h>
#include <lab/exit_codes.h>
#include <lab/gpu_memory.h>
#include <lab/short_path.h>

#include "mpi_check.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__has_feature)
// MPI never frees some of its memory: AddressSanitizer would call that our leak. Where it is not at
// work, nobody asks.
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }
#endif

namespace lab {
namespace {

#ifdef __CUDA_ON_CPU__
constexpr bool kOnCpu = true;
constexpr int kWaitSeconds = 600;  // the CPU is slow, and some ranks may be slower than others
#else
constexpr bool kOnCpu = false;
constexpr int kWaitSeconds = 20;
#endif
constexpr int kMaxWaitSeconds = 86400;
// NCCL may connect for so many times that long: on many nodes it takes longer than any exchange.
[[maybe_unused]] constexpr int kTimesToConnect = 6;
constexpr int kMaxRanksOfNode = 1024;
constexpr auto kLookEvery = std::chrono::milliseconds(50);
enum Tag { kHaloTag = 1, kAskTag, kRowsTag };

using Clock = std::chrono::steady_clock;

std::string format(const char* pattern, ...) __attribute__((format(printf, 1, 2)));
std::string format(const char* pattern, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(text, sizeof text, pattern, arguments);
  va_end(arguments);
  return text;
}

/// Memory that the ranks of one node share.
struct Board {
  std::atomic<int> said;                      // one of them has said why the job ends
  std::atomic<int> leaving[kMaxRanksOfNode];  // it is about to end, and has not died
};

/// Another rank of this node.
struct Peer {
  pid_t pid;
  int rank_of_node;
  std::string line;  // to be printed where it has died
};

/// What this process knows of its job. The thread that watches over it and the handler of SIGTERM
/// look at it, too, so there is one of it, and it stays until the process has ended.
struct Watch {
  std::string program = "jacobi";
  int rank = 0, size = 1;
  int rank_of_node = 0, ranks_of_node = 1;
  int seconds = kWaitSeconds;
  bool together = false;  // all ranks see the same mistake: rank 0 speaks for them
  bool over = false;      // MPI has ended
  Board* board = nullptr;
  std::vector<Peer> peers;
  ncclComm_t comm = nullptr;

  std::thread thread;
  std::mutex mutex;  // of all that follows
  std::condition_variable changed;
  bool stop = false;
  bool waits = false;
  Clock::time_point since;
  int limit = 0;     // in seconds
  std::string what;  // it waits for
  std::string kind;  // of that, for the report
};
Watch& watch = *new Watch;

/// Whether this rank may say why the job ends: the first of its node that asks.
bool first_to_speak() { return watch.board->said.exchange(1) == 0; }

void set_leaving() { watch.board->leaving[watch.rank_of_node] = 1; }

/// A rank of this node that has ended, and had not said that it would; null where there is none.
const Peer* dead_peer() {
  for (const Peer& peer : watch.peers) {
    if (watch.board->leaving[peer.rank_of_node] == 0 && kill(peer.pid, 0) != 0 && errno == ESRCH) {
      return &peer;
    }
  }
  return nullptr;
}

void write_line(const std::string& line) {
  if (write(STDERR_FILENO, line.data(), line.size()) < 0) return;  // nobody is there to read it
}

/// The launcher ends the others where one rank has ended. Who has died cannot speak for itself.
void on_termination(int signal_number) {
  set_leaving();
  const Peer* dead = dead_peer();
  if (dead && first_to_speak()) write_line(dead->line);
  _exit(128 + signal_number);
}

/// The thread that watches, while the program may hang in a call of whomsoever.
void watch_over() {
  std::unique_lock<std::mutex> lock(watch.mutex);
  while (!watch.changed.wait_for(lock, kLookEvery, [] { return watch.stop; })) {
    if (const Peer* dead = dead_peer()) {
      if (first_to_speak()) write_line(dead->line);
      _exit(kExitCudaError);
    }
    if (watch.waits && Clock::now() - watch.since > std::chrono::seconds(watch.limit)) {
      if (first_to_speak()) {
        Report report{watch.kind};
        report.words = format("waited %d s in vain for %s (LAB_EXCHANGE_SECONDS sets the limit)",
                              watch.limit, watch.what.c_str());
        cuda_on_cpu::write_report(report);
        write_line(watch.program + format(": rank %d: ", watch.rank) + report.words + "\n");
      }
      _exit(kExitCudaError);  // the launcher ends the others
    }
  }
}

void begin_waiting(std::string what, int times = 1, const char* kind = "waits") {
  const std::lock_guard<std::mutex> lock(watch.mutex);
  watch.kind = kind;
  watch.limit = times * watch.seconds;
  watch.what = std::move(what);
  watch.since = Clock::now();
  watch.waits = true;
}

void end_waiting() {
  const std::lock_guard<std::mutex> lock(watch.mutex);
  watch.waits = false;
}

/// While this lives the thread that watches holds the time limit against it.
struct Waiting {
  explicit Waiting(std::string what, const char* kind = "waits") {
    begin_waiting(std::move(what), 1, kind);
  }
  ~Waiting() { end_waiting(); }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
};

/// Polled in a loop that waits: at first it burns time, which is soonest, and then it sleeps.
class Patience {
 public:
  void wait() {
    if (++polls_ > 20000) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    } else if (kOnCpu || polls_ > 2000) {
      std::this_thread::yield();
    }
  }

 private:
  int polls_ = 0;
};

/// Waits for all of them; `what` is said where they take too long.
void await(std::vector<MPI_Request>* requests, const std::string& what,
           const char* kind = "waits") {
  const Waiting waiting(what, kind);
  int done = 0;
  for (Patience patience; !done; patience.wait()) {
    MPI_CHECK(MPI_Testall(static_cast<int>(requests->size()), requests->data(), &done,
                          MPI_STATUSES_IGNORE));
  }
}

/// Ends MPI, where all ranks come here, at the program's end.
void finalize() {
  if (watch.over) return;
  watch.over = true;
  set_leaving();
  begin_waiting("the other ranks, which have not come to the end of the program");
  MPI_Finalize();
  {
    const std::lock_guard<std::mutex> lock(watch.mutex);
    watch.stop = true;
  }
  watch.changed.notify_all();
  watch.thread.join();
  // A batch system may end what is left; this process has nothing more to say.
  std::signal(SIGTERM, SIG_DFL);
  set_job({});
}

const char* words(ExitCode code) {
  // Ranks have the same options: what is wrong with them is none's own.
  if (watch.together || code == kExitBadUsage) return watch.rank == 0 ? "" : nullptr;
  static const std::string words = format("rank %d: ", watch.rank);
  return first_to_speak() ? words.c_str() : nullptr;
}

void end_job(ExitCode code) {
  if (watch.together || code == kExitBadUsage) {
    // All ranks come here. Rank 0 has spoken before the first of them ends: then the launcher ends
    // the rest.
    std::vector<MPI_Request> barrier(1);
    MPI_Ibarrier(MPI_COMM_WORLD, &barrier[0]);
    await(&barrier, "the other ranks, which go on where this one ends");
    finalize();
    std::exit(code);
  }
  set_leaving();
  MPI_Abort(MPI_COMM_WORLD, code);
  _exit(code);
}

/// Memory for all ranks of the node, or where there is none, for this one alone.
Board* share_board(MPI_Comm node) {
  char name[64];
  std::snprintf(name, sizeof name, "/jacobi-ranks-%d-%lld", static_cast<int>(getpid()),
                static_cast<long long>(Clock::now().time_since_epoch().count()));
  const bool first = watch.rank_of_node == 0;
  int file = -1;
  if (first) {
    file = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    // Memory that is promised and not there would end who touches it.
    if (file >= 0 && posix_fallocate(file, 0, sizeof(Board)) != 0) {
      shm_unlink(name);
      close(file);
      file = -1;
    }
  }
  MPI_CHECK(MPI_Bcast(name, sizeof name, MPI_CHAR, 0, node));
  if (!first) file = shm_open(name, O_RDWR, 0600);
  void* memory = MAP_FAILED;
  if (file >= 0) {
    memory = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
  }
  MPI_CHECK(MPI_Barrier(node));
  if (first) shm_unlink(name);
  // New pages are zero, which is what the board begins with.
  return memory == MAP_FAILED ? new Board() : static_cast<Board*>(memory);
}

/// Who else is on this node, where its processes can be seen.
std::vector<Peer> find_peers(MPI_Comm node) {
  struct Process {
    int rank, pid;
    char space[64];  // in which the pid is one
  } own{watch.rank, static_cast<int>(getpid()), ""};
  if (readlink("/proc/self/ns/pid", own.space, sizeof own.space - 1) < 0) own.space[0] = '\0';
  std::vector<Process> all(watch.ranks_of_node);
  MPI_CHECK(MPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, node));
  std::vector<Peer> peers;
  for (int k = 0; k < watch.ranks_of_node; ++k) {
    if (k == watch.rank_of_node || std::strcmp(all[k].space, own.space) != 0) continue;
    peers.push_back({all[k].pid, k,
                     format("%s: rank %d has died: its process ended without a word (killed? out "
                            "of memory?); that ends the job\n",
                            watch.program.c_str(), all[k].rank)});
  }
  return peers;
}

/// From now on this rank's end ends the job.
void start_to_watch() {
  std::signal(SIGTERM, on_termination);
  std::atexit(finalize);
  // The thread that watches takes no signal: the main one does.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    watch.thread = std::thread(watch_over);
  } catch (const std::system_error& error) {
    fail(kExitCudaError, "no thread to watch over the job: %s", error.what());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

/// The command line without the program's name, as a shell would take it.
std::string options_of(int argc, char** argv) {
  std::string all;
  for (int k = 1; k < argc; ++k) {
    if (k > 1) all += ' ';
    all += argv[k];
  }
  return all;
}

/// Rank 0 learns of the first rank that was started with other options; all of them then end.
void compare_options(const std::string& own) {
  int length = static_cast<int>(own.size());
  MPI_CHECK(MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD));
  std::string first = own;
  first.resize(length);
  MPI_CHECK(MPI_Bcast(&first[0], length, MPI_CHAR, 0, MPI_COMM_WORLD));
  int other = own == first ? INT_MAX : watch.rank, least = 0;
  MPI_CHECK(MPI_Allreduce(&other, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
  if (least == INT_MAX) return;
  char theirs[512] = "";
  std::snprintf(theirs, sizeof theirs, "%s", own.c_str());
  MPI_CHECK(MPI_Bcast(theirs, sizeof theirs, MPI_CHAR, least, MPI_COMM_WORLD));
  fail(kExitBadUsage, "rank %d was started with other options than rank 0: '%s', and not '%s'",
       least, theirs, first.c_str());
}

/// A setting from the environment of rank 0.
std::string setting(const char* name) {
  char value[64] = "";
  const char* own = std::getenv(name);
  if (watch.rank == 0 && own) std::snprintf(value, sizeof value, "%s", own);
  MPI_CHECK(MPI_Bcast(value, sizeof value, MPI_CHAR, 0, MPI_COMM_WORLD));
  return value;
}

void read_time_limit() {
  const std::string text = setting("LAB_EXCHANGE_SECONDS");
  if (text.empty()) return;
  char* end = nullptr;
  const long seconds = std::strtol(text.c_str(), &end, 10);
  if (*end != '\0' || seconds < 1 || seconds > kMaxWaitSeconds) {
    fail(kExitBadUsage, "LAB_EXCHANGE_SECONDS=%s: must be a whole number from 1 to %d",
         text.c_str(), kMaxWaitSeconds);
  }
  watch.seconds = static_cast<int>(seconds);
}

bool true_for_all(bool here) {
  int own = here, all = 0;
  MPI_CHECK(MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD));
  return all != 0;
}

/// The lines of some ranks, in order, each printed once.
void add_notes(const std::string& own) {
  char text[200] = "";
  std::snprintf(text, sizeof text, "%s", own.c_str());
  std::vector<char> all(sizeof text * watch.size);
  MPI_CHECK(MPI_Gather(text, sizeof text, MPI_CHAR, all.data(), sizeof text, MPI_CHAR, 0,
                       MPI_COMM_WORLD));
  for (int r = 0; watch.rank == 0 && r < watch.size; ++r) {
    if (const char* note = &all[r * sizeof text]; *note) add_note(note);
  }
}

/// What the memory of one GPU has to hold, where each rank has as many rows as the one with most.
std::size_t bytes_of_share(int n, int ranks, int halo, std::size_t bytes_per_point) {
  const std::size_t pitch = (static_cast<std::size_t>(n) + 31) / 32 * 32;
  const int rows = (n + ranks - 1) / ranks + (ranks > 1 ? 2 * halo : 0);
  return bytes_per_point * pitch * std::min(rows, n);
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
  while (result == ncclInProgress && watch.comm) {
    const ncclResult_t asked = ncclCommGetAsyncError(watch.comm, &result);
    if (asked != ncclSuccess) result = asked;
  }
  end_waiting();
  if (result == ncclSuccess) return;
  const char* more = ncclGetLastError(watch.comm);
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

struct Ranks::State {
  int node = 0;              // the world's rank of the node's first
  std::vector<int> sharers;  // how many ranks have the same GPU, by rank
  bool connected = false;
  std::string gpu_name = "CPU";
  // Pinned, and kept for the run: what goes to other ranks, and what comes from them.
  float *to_others = nullptr, *from_others = nullptr;
  std::size_t values = 0;  // that each has room for
  double* sums = nullptr;
};

Ranks::Ranks(int* argc, char*** argv, const char* step) : state_(std::make_unique<State>()) {
  set_program_name(step);
  watch.program = step;
  const std::string options = options_of(*argc, *argv);
  // Open MPI reads out of another rank's memory, and says so on stderr where it may not (in a
  // container) or where that rank has just died; what there is to say then, we say in one line.
  setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", /*replace=*/0);
  int provided = 0;
  if (MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) {
    fail(kExitCudaError, "MPI does not start");
  }
  MPI_CHECK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  MPI_CHECK(MPI_Comm_rank(MPI_COMM_WORLD, &watch.rank));
  MPI_CHECK(MPI_Comm_size(MPI_COMM_WORLD, &watch.size));
  MPI_Comm node;
  MPI_CHECK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
  MPI_CHECK(MPI_Comm_rank(node, &watch.rank_of_node));
  MPI_CHECK(MPI_Comm_size(node, &watch.ranks_of_node));
  state_->node = watch.rank;
  MPI_CHECK(MPI_Bcast(&state_->node, 1, MPI_INT, 0, node));
  watch.board = share_board(node);
  if (watch.ranks_of_node <= kMaxRanksOfNode) watch.peers = find_peers(node);
  MPI_CHECK(MPI_Comm_free(&node));

  set_job({watch.rank, watch.size, words, end_job});
  start_to_watch();
  compare_options(options);
  read_time_limit();
  if (kOnCpu) {
    // The ranks share the cores.
    const int cores = static_cast<int>(std::thread::hardware_concurrency());
    const std::string workers = std::to_string(std::max(1, cores / watch.ranks_of_node));
    setenv("LAB_CPU_WORKERS", workers.c_str(), 0);
  }
}

Ranks::~Ranks() {
#if LAB_HAVE_NCCL
  if (watch.comm) {
    NCCL_CHECK(ncclCommDestroy(watch.comm));
    watch.comm = nullptr;
  }
#endif
  CUDA_CHECK(cudaFreeHost(state_->to_others));
  CUDA_CHECK(cudaFreeHost(state_->from_others));
  CUDA_CHECK(cudaFreeHost(state_->sums));
  finalize();
}

int Ranks::rank() const { return watch.rank; }
int Ranks::size() const { return watch.size; }
bool Ranks::has_nccl() const { return watch.comm != nullptr; }
ncclComm_t Ranks::nccl() const { return watch.comm; }

void Ranks::require_rows(int n, int halo) const {
  if (watch.size == 1 || n / watch.size >= halo) return;
  fail(kExitBadUsage,
       "n = %d has too few rows for %d ranks: each needs %d, as many as its neighbour's halo; %d "
       "rank%s the most for this n",
       n, watch.size, halo, std::max(1, n / halo), n / halo > 1 ? "s are" : " is");
}

namespace {

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
  std::vector<Place> places(watch.size);
  MPI_CHECK(MPI_Allgather(&own, sizeof own, MPI_BYTE, places.data(), sizeof own, MPI_BYTE,
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
  if (watch.rank == 0) NCCL_CHECK(ncclGetUniqueId(&id));
  MPI_CHECK(MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD));
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  // Where a rank does not come, the thread that watches ends this call. A communicator that does
  // not block would pay for that with a thread for each group of calls.
  config.blocking = 1;
  begin_waiting("NCCL, whose ranks do not find each other", kTimesToConnect);
  check_nccl(ncclCommInitRankConfig(&watch.comm, watch.size, id, watch.rank, &config),
             "ncclCommInitRankConfig", __FILE__, __LINE__);
  int version = 0;
  NCCL_CHECK(ncclGetVersion(&version));
  return format("halos: NCCL %d.%d.%d, each rank a GPU of its own", version / 10000,
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
  if (watch.size == 1) return;
  const std::string why_not = why_not_nccl(wish, own_gpus);
  std::string note;
  if (why_not.empty()) {
    note = connect_by_nccl();
  } else if (kOnCpu && wish == "nccl") {
    static char stand_in;  // the calls need one, and look into none
    watch.comm = reinterpret_cast<ncclComm_t>(&stand_in);
    note = "halos: NCCL's calls, which MPI does in its place: the CPU stands in";
  } else {
    note = "halos: MPI, on copies in host memory: " + why_not;
  }
  if (watch.rank == 0) add_note(note);
}

/// A line where this rank's GPU does not reach that of the next one; empty where it does, or where
/// nothing can be said.
std::string describe_way_north([[maybe_unused]] const std::vector<Place>& places,
                               [[maybe_unused]] int device) {
#ifndef __CUDA_ON_CPU__
  const int north = watch.rank + 1;
  if (north == watch.size) return "";
  const Place &own = places[watch.rank], &next = places[north];
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
        watch.rank, north);
  }
#endif
  return "";
}

}  // namespace

void Ranks::connect() {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  watch.together = true_for_all(error != cudaSuccess);
  check_cuda(error, "cudaGetDeviceCount(&devices)", __FILE__, __LINE__);
  const int device = watch.rank_of_node % devices;
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
  const int sharers = state_->sharers[watch.rank];
  const std::uint64_t own = usable_gpu_memory(free_bytes) / sharers;
  std::uint64_t usable = 0;
  MPI_CHECK(MPI_Allreduce(&own, &usable, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD));
  set_device(
      state_->gpu_name + (watch.size > 1 ? ", " + std::to_string(watch.size) + " ranks" : ""),
      !kOnCpu);

  const std::size_t needed = bytes_of_share(n, watch.size, halo, bytes_per_point);
  if (needed <= usable) return;
  int fits = 0;  // the largest n of which a share fits
  static_assert((kMaxN & (kMaxN - 1)) == 0, "its halves reach every n");
  for (int step = kMaxN; step > 0; step /= 2) {
    if (fits + step <= kMaxN &&
        bytes_of_share(fits + step, watch.size, halo, bytes_per_point) <= usable) {
      fits += step;
    }
  }
  // More ranks do, where each brings a GPU.
  const std::size_t of_gpu = usable * sharers;
  const int most_ranks = n / std::max(halo, 1);
  int ranks = sharers > 1 ? 1 : watch.size + 1;
  while (ranks <= most_ranks && bytes_of_share(n, ranks, halo, bytes_per_point) > of_gpu) ++ranks;
  watch.together = true;
  fail(kExitDoesNotFit,
       "n = %d on %d rank%s needs %.1f GB of GPU memory in each, and %s has %.1f GB free%s: the "
       "largest n that fits is %d; %s",
       n, watch.size, watch.size > 1 ? "s" : "", 1e-9 * needed, state_->gpu_name.c_str(),
       1e-9 * usable, sharers > 1 ? " for each" : "", fits,
       ranks <= most_ranks
           ? format("this n needs %d GPU%s, a rank each", ranks, ranks > 1 ? "s" : "").c_str()
           : "for this n no number of GPUs is enough");
}

namespace {

/// Asks `query` until it says that the GPU is done, the others have failed, or time is up.
void poll(const std::function<cudaError_t()>& query, const char* call) {
  const Waiting waiting("the other ranks: an exchange or a sum on the GPU does not end");
  for (int polls = 0;; ++polls) {
    const cudaError_t error = query();
    if (error == cudaSuccess) return;
    if (error != cudaErrorNotReady) check_cuda(error, call, __FILE__, __LINE__);
    (void)cudaGetLastError();  // "not ready" is no error to be found later
#if LAB_HAVE_NCCL
    ncclResult_t result = ncclSuccess;
    if (watch.comm && polls % 1000 == 999) {
      const ncclResult_t asked = ncclCommGetAsyncError(watch.comm, &result);
      if (asked != ncclSuccess) result = asked;
    }
    if (result != ncclSuccess && result != ncclInProgress) {
      const char* more = ncclGetLastError(watch.comm);
      const std::string why = format("NCCL: %s%s%s", ncclGetErrorString(result),
                                     more && *more ? ": " : "", more ? more : "");
      ncclCommAbort(watch.comm);  // so that its kernels end
      fail(kExitCudaError, "%s", why.c_str());
    }
#endif
  }
}

}  // namespace

void Ranks::wait(cudaStream_t stream) {
  if (kOnCpu || watch.size == 1) {  // on the CPU the work is done here and now, by this process
    CUDA_CHECK(cudaStreamSynchronize(stream));
  } else {
    poll([=] { return cudaStreamQuery(stream); }, "cudaStreamQuery(stream)");
  }
}

void Ranks::wait_for(cudaEvent_t event) {
  if (kOnCpu || watch.size == 1) {
    CUDA_CHECK(cudaEventSynchronize(event));
  } else {
    poll([=] { return cudaEventQuery(event); }, "cudaEventQuery(event)");
  }
}

namespace {

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
         "ranks.sum: its value is no double in the GPU's memory: %s (%s)",
         cudaGetErrorString(error), cudaGetErrorName(error));
  }
}

}  // namespace

void Ranks::exchange_through_host(const std::vector<Halo>& halos, cudaStream_t stream) {
  if (halos.empty()) return;  // one rank has no neighbours: no reason to wait for the stream
  State& state = *state_;
  std::size_t values = 0;
  for (const Halo& halo : halos) {
    if (halo.rank < 0 || halo.rank >= watch.size) {
      Report report{"exchange_rank"};
      report.detail = format("it exchanges rows with rank %d, and there are ranks 0 to %d",
                             halo.rank, watch.size - 1);
      fail(kExitCudaError, report, "%s", report.detail.c_str());
    }
    values += halo.values;
  }
  if (values > state.values) {
    CUDA_CHECK(cudaFreeHost(state.to_others));
    CUDA_CHECK(cudaFreeHost(state.from_others));
    CUDA_CHECK(cudaMallocHost(&state.to_others, values * sizeof(float)));
    CUDA_CHECK(cudaMallocHost(&state.from_others, values * sizeof(float)));
    state.values = values;
  }

  std::size_t at = 0;
  for (const Halo& halo : halos) {
    copy_halo(state.to_others + at, halo.send, halo, cudaMemcpyDeviceToHost, stream);
    at += halo.values;
  }
  wait(stream);

  std::vector<MPI_Request> requests;
  std::string others;
  at = 0;
  for (const Halo& halo : halos) {
    const int count = static_cast<int>(halo.values);
    requests.resize(requests.size() + 2);
    MPI_CHECK(MPI_Irecv(state.from_others + at, count, MPI_FLOAT, halo.rank, kHaloTag,
                        MPI_COMM_WORLD, &requests[requests.size() - 2]));
    MPI_CHECK(MPI_Isend(state.to_others + at, count, MPI_FLOAT, halo.rank, kHaloTag, MPI_COMM_WORLD,
                        &requests.back()));
    at += halo.values;
    others += format("%srank %d", others.empty() ? "" : " or ", halo.rank);
  }
  await(&requests, others + ": no exchange of halos with it", "waits_halos");

  at = 0;
  for (const Halo& halo : halos) {
    copy_halo(halo.receive, state.from_others + at, halo, cudaMemcpyHostToDevice, stream);
    at += halo.values;
  }
}

void Ranks::sum(double* value, cudaStream_t stream) {
  if (watch.size == 1) return;
  double*& sums = state_->sums;
  if (!sums) CUDA_CHECK(cudaMallocHost(&sums, (watch.size + 1) * sizeof(double)));
  double& own = sums[watch.size];
  copy_sum(&own, value, cudaMemcpyDeviceToHost, stream);
  wait(stream);
  // All of them, added in the order of ranks: the same bits everywhere. Ranks that differ in the
  // last one could differ in whether they go on.
  std::vector<MPI_Request> gather(1);
  MPI_CHECK(MPI_Iallgather(&own, 1, MPI_DOUBLE, sums, 1, MPI_DOUBLE, MPI_COMM_WORLD, &gather[0]));
  await(&gather, "the other ranks: not all have come to the sum over the ranks");
  own = 0;
  for (int r = 0; r < watch.size; ++r) own += sums[r];
  copy_sum(value, &own, cudaMemcpyHostToDevice, stream);
}

namespace {

/// Rank 0: gets rows of the result from the rank that has them, n floats each, from row j on.
void receive_rows(int owner, int j, int rows, int n, float* to) {
  const int ask[2] = {j, rows};
  std::vector<MPI_Request> requests(2);
  MPI_CHECK(MPI_Irecv(to, rows * n, MPI_FLOAT, owner, kRowsTag, MPI_COMM_WORLD, &requests[0]));
  MPI_CHECK(MPI_Isend(ask, 2, MPI_INT, owner, kAskTag, MPI_COMM_WORLD, &requests[1]));
  await(&requests, format("rank %d: it does not send its rows of the result", owner));
}

/// The other ranks: sends the rows that rank 0 asks for, until that has ended the run. Returns the
/// program's exit code.
int send_rows(int n, const FetchRows& fetch) {
  std::vector<float> values;
  for (;;) {
    // Rank 0 may be busy with what it has, for long: no time limit.
    int ask[2], there = 0;
    MPI_Request request;
    MPI_CHECK(MPI_Irecv(ask, 2, MPI_INT, 0, kAskTag, MPI_COMM_WORLD, &request));
    for (Patience patience; !there; patience.wait()) {
      MPI_CHECK(MPI_Test(&request, &there, MPI_STATUS_IGNORE));
    }
    const auto [j, rows] = ask;
    if (j < 0) return rows;
    values.resize(static_cast<std::size_t>(rows) * n);
    fetch(values.data(), j, rows);
    std::vector<MPI_Request> sent(1);
    MPI_CHECK(MPI_Isend(values.data(), rows * n, MPI_FLOAT, 0, kRowsTag, MPI_COMM_WORLD, &sent[0]));
    await(&sent, "rank 0: it does not take the rows of the result");
  }
}

}  // namespace

int Ranks::finish(Run& run, int begin, int end, const FetchRows& fetch) {
  struct Rows {
    int begin, end;
  } own{begin, end};
  std::vector<Rows> rows_of(watch.size);
  {
    const Waiting waiting("the other ranks: not all have come to the end of the run");
    MPI_CHECK(MPI_Allgather(&own, 2, MPI_INT, rows_of.data(), 2, MPI_INT, MPI_COMM_WORLD));
  }
  int n = 0;
  for (const Rows& rows : rows_of) n = std::max(n, rows.end);
  if (watch.rank > 0) return send_rows(n, fetch);

  const int code = run.finish([&](float* to, int j, int count) {
    while (count > 0) {
      int owner = 0;
      while (owner < watch.size && !(rows_of[owner].begin <= j && j < rows_of[owner].end)) ++owner;
      if (owner == watch.size) {
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
  for (int r = 1; r < watch.size; ++r) {
    MPI_CHECK(MPI_Send(over, 2, MPI_INT, r, kAskTag, MPI_COMM_WORLD));
  }
  return code;
}

}  // namespace lab
