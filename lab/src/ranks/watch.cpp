#include "job.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cuda_on_cpu/report.h>

namespace lab {

Self& self = *new Self;

namespace {

constexpr int kMaxRanksOfNode = 1024;
constexpr auto kLookEvery = std::chrono::milliseconds(50);
constexpr int kLooksAtAllWaiting = 20;
constexpr auto kAllWait = std::chrono::seconds(3);
// A rank may wait for a sum because another one still waits for an exchange: that one speaks.
constexpr auto kAllWaitForSum = std::chrono::seconds(4);
constexpr auto kTimeToSpeak = std::chrono::milliseconds(500);
using Clock = std::chrono::steady_clock;

/// Memory that the ranks of one node share.
struct Board {
  std::atomic<int> said;                      // one of them has said why the job ends
  std::atomic<int> leaving[kMaxRanksOfNode];  // it is about to end, and has not died
  std::atomic<int> waiting;                   // how many wait for messages
  std::atomic<long> went_on;                  // how often one has got what it waited for
};

/// Another rank of this node.
struct Peer {
  pid_t pid;
  int rank_of_node;
  std::string line;  // to be printed where it has died
};

/// What this rank waits for.
struct Wait {
  bool on = false;
  Clock::time_point since = {};
  int limit = 0;          // in seconds
  std::string what = {};  // it waits for
  std::string kind = {};  // of that, for the report
};

struct Watch {
  bool over = false;  // MPI has ended
  Board* board = nullptr;
  std::vector<Peer> peers;

  std::thread thread;
  std::mutex mutex;  // of all that follows
  std::condition_variable changed;
  bool stop = false;
  Wait wait;
};
Watch& watch = *new Watch;

/// Whether this rank may say why the job ends: the first of its node that asks. The others wait for
/// its words: when one of them ends, the launcher ends them all.
bool first_to_speak() {
  if (watch.board->said.exchange(1) == 0) return true;
  std::this_thread::sleep_for(kTimeToSpeak);
  return false;
}

void set_leaving() { watch.board->leaving[self.rank_of_node] = 1; }

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

/// Whether all ranks of the job wait for messages, and none has got one for many looks: as each
/// waits for another, this will not end. A GPU may be what keeps one; a CPU does nothing else then.
bool all_wait() {
  static long went_on = -1;
  static int looks = 0;
  const long now = watch.board->went_on;
  looks = kOnCpu && watch.board->waiting == self.size && now == went_on ? looks + 1 : 0;
  went_on = now;
  return looks > kLooksAtAllWaiting;
}

/// The thread that watches, while the program may hang in a call of whomsoever.
void watch_over() {
  std::unique_lock<std::mutex> lock(watch.mutex);
  while (!watch.changed.wait_for(lock, kLookEvery, [] { return watch.stop; })) {
    if (const Peer* dead = dead_peer()) {
      if (first_to_speak()) write_line(dead->line);
      _exit(kExitCudaError);
    }
    const Wait& wait = watch.wait;
    const auto waited = Clock::now() - wait.since;
    const bool all = all_wait() && waited > (wait.kind == "waits_sum" ? kAllWaitForSum : kAllWait);
    if (wait.on && (all || waited > std::chrono::seconds(wait.limit))) {
      if (first_to_speak()) {
        Report report{wait.kind};
        report.words = format(
            "gave up after waiting %d s for %s (%s)",
            static_cast<int>(std::chrono::duration_cast<std::chrono::seconds>(waited).count()),
            wait.what.c_str(),
            all ? "all ranks wait for each other" : "LAB_EXCHANGE_SECONDS sets the limit");
        cuda_on_cpu::write_report(report);
        write_line(self.program + format(": rank %d: ", self.rank) + report.words + "\n");
      }
      _exit(kExitCudaError);  // the launcher ends the others
    }
  }
}

const char* words(ExitCode code) {
  // Ranks have the same options: what is wrong with them is none's own.
  if (self.together || code == kExitBadUsage) return self.rank == 0 ? "" : nullptr;
  static const std::string words = format("rank %d: ", self.rank);
  return first_to_speak() ? words.c_str() : nullptr;
}

void end_job(ExitCode code) {
  if (self.together || code == kExitBadUsage) {
    // All ranks come here. Rank 0 has spoken before the first of them ends: then the launcher ends
    // the rest.
    std::vector<MPI_Request> barrier(1);
    MPI_Ibarrier(MPI_COMM_WORLD, &barrier[0]);
    await(&barrier, "the other ranks, which continue although this one ends");
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
  const bool first = self.rank_of_node == 0;
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
  } own{self.rank, static_cast<int>(getpid()), ""};
  if (readlink("/proc/self/ns/pid", own.space, sizeof own.space - 1) < 0) own.space[0] = '\0';
  std::vector<Process> all(self.ranks_of_node);
  MPI_CHECK(MPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, node));
  std::vector<Peer> peers;
  for (int k = 0; k < self.ranks_of_node; ++k) {
    if (k == self.rank_of_node || std::strcmp(all[k].space, own.space) != 0) continue;
    peers.push_back(
        {all[k].pid, k,
         format("%s: rank %d has died: its process ended without a message (killed? out "
                "of memory?); that ends the job\n",
                self.program.c_str(), all[k].rank)});
  }
  return peers;
}

/// Between two polls of a loop that waits.
void wait_a_moment(int polls) {
  if (polls > (kOnCpu ? 100 : 20000)) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  } else if (kOnCpu || polls > 2000) {
    std::this_thread::yield();
  }
}

/// While a rank's host waits, its GPU goes on, and another rank may wait for that. false: it has
/// nothing to do that could begin.
bool gpu_goes_on() {
#ifdef __CUDA_ON_CPU__
  const Wait before = watch.wait;
  if (!cuda_on_cpu::go_on()) return false;
  const std::lock_guard<std::mutex> lock(watch.mutex);  // that piece of work may have waited, too
  watch.wait = before;
  watch.wait.since = Clock::now();
  return true;
#else
  return false;
#endif
}

}  // namespace

void begin_waiting(std::string what, int times, const char* kind) {
  const std::lock_guard<std::mutex> lock(watch.mutex);
  watch.wait = {true, Clock::now(), times * self.wait_seconds, std::move(what), kind};
}

void end_waiting() {
  const std::lock_guard<std::mutex> lock(watch.mutex);
  watch.wait.on = false;
}

int wait_politely(MPI_Request* request, MPI_Status* status) {
  // A twentieth of a second; or, where it is counted what the GPU still has to do, two.
  static const int many = std::getenv("LAB_TRACE_TSV") ? 20000 : 500;
  int done = 0, error = MPI_SUCCESS;
  bool idle = false;
  for (int polls = 0; !done && error == MPI_SUCCESS; wait_a_moment(++polls)) {
    error = MPI_Test(request, &done, status);
    const bool was_idle = idle;
    idle = !done && polls > many && !gpu_goes_on();
    watch.board->waiting += idle - was_idle;
  }
  watch.board->waiting -= idle;
  ++watch.board->went_on;
  return error;
}

void await(std::vector<MPI_Request>* requests, const std::string& what, const char* kind) {
  begin_waiting(what, 1, kind);
  for (MPI_Request& request : *requests) MPI_CHECK(wait_politely(&request, MPI_STATUS_IGNORE));
  end_waiting();
}

void finalize() {
  if (std::exchange(watch.over, true)) return;
  set_leaving();
  begin_waiting("the other ranks, which have not reached the end of the program");
  MPI_Request barrier;  // MPI_Finalize would wait without pause
  MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
  wait_politely(&barrier, MPI_STATUS_IGNORE);
  MPI_Finalize();
  {
    const std::lock_guard<std::mutex> lock(watch.mutex);
    watch.stop = true;
  }
  watch.changed.notify_all();
  watch.thread.join();
  // A batch system may end what is left; this process has nothing more to say.
  std::signal(SIGTERM, SIG_DFL);
  job = {};
}

void start_to_watch(MPI_Comm node) {
  watch.board = share_board(node);
  if (self.ranks_of_node <= kMaxRanksOfNode) watch.peers = find_peers(node);
  job = {self.rank, self.size, words, end_job};
  std::signal(SIGTERM, on_termination);
  std::atexit(finalize);
  // The thread that watches takes no signal: the main one does.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    watch.thread = std::thread(watch_over);
  } catch (const std::system_error& error) {
    fail(kExitCudaError, "cannot start the thread that watches the job: %s", error.what());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace lab
