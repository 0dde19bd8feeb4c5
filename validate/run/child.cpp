#include "run/child.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace validate {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kMaxOutput = 64 << 10;
constexpr double kLastWordsSeconds = 10;  // where much else runs, lines are found slowly

std::atomic<int> caught_signal{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler writes it");

void on_signal(int signal) { caught_signal = signal; }

/// Appends what the pipe holds now; returns false at its end. Of what comes as fast as it is read,
/// no more than a full pipe: the caller also looks at the time.
bool drain(int pipe, std::string* output) {
  constexpr int kFullPipe = 1 << 20;
  char buffer[4096];
  for (int taken = 0; taken < kFullPipe; taken += sizeof buffer) {
    const ssize_t got = TEMP_FAILURE_RETRY(read(pipe, buffer, sizeof buffer));
    if (got <= 0) return got < 0 && errno == EAGAIN;
    output->append(buffer, static_cast<std::size_t>(got));
    if (output->size() > 2 * kMaxOutput) output->erase(0, output->size() - kMaxOutput);
  }
  return true;
}

/// The children that run now, each in a process group of its own. Several threads may run one each.
std::mutex running_mutex;
std::set<pid_t> running;

/// Ends what a child that is gone left behind outside its process group, a daemon say: since this
/// process is their reaper (see run_child), they are its own children now. What another child that
/// still runs has in its group stays. (What left that group, and whose parent has ended, does not.)
void end_left_behind(pid_t gone) {
  const std::lock_guard<std::mutex> lock(running_mutex);
  running.erase(gone);
  const std::string own = "/proc/self/task/";
  for (int round = 0; round < 100; ++round) {
    bool any = false;
    // A process lists its children by the thread that started them, and what it was left by its
    // first one.
    std::ifstream children(own + std::to_string(getpid()) + "/children");
    for (pid_t left; children >> left;) {
      if (running.count(left) > 0 || running.count(getpgid(left)) > 0) continue;
      any = true;
      kill(left, SIGKILL);
      TEMP_FAILURE_RETRY(waitpid(left, nullptr, 0));
    }
    // Who was killed may have had children of its own.
    if (!any) return;
  }
}

/// Bytes that would do something to a terminal, as '?'.
std::string harmless(std::string line) {
  for (char& c : line) {
    if (c != '\t' && (static_cast<unsigned char>(c) < 32 || c == 127)) c = '?';
  }
  return line;
}

/// Turns this process, a new one, into the program. If that cannot be, `error_to` gets why.
[[noreturn]] void become(char* const* argv, char* const* environment, pid_t parent, int output,
                         int error_to) {
  setpgid(0, 0);
  // It does not outlive this process, whatever ends that.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(null, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  // With a path, a file that is no program is an error (execvp would hand it to the shell).
  const auto run = std::strchr(argv[0], '/') ? execve : execvpe;
  run(argv[0], argv, environment);
  const int error = errno;
  if (write(error_to, &error, sizeof error) < 0) _exit(126);
  _exit(127);
}

double cpu_seconds_of(pid_t child) {
  clockid_t clock;
  timespec used{};
  if (clock_getcpuclockid(child, &clock) != 0 || clock_gettime(clock, &used) != 0) return 0;
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

/// How long the child, or the one below it that waited longest (a rank, of a launcher), was ready
/// and waited for a CPU that others used (the second number of /proc/PID/schedstat: man 5 proc,
/// "Scheduler statistics" of the kernel's documentation). 0 if the system does not say.
double seconds_waited_for_a_cpu(pid_t child) {
  const std::string process = "/proc/" + std::to_string(child);
  double ran = 0, waited = 0;
  std::ifstream(process + "/schedstat") >> ran >> waited;
  double longest = 1e-9 * waited;
  std::ifstream below(process + "/task/" + std::to_string(child) + "/children");
  for (pid_t one; below >> one;) longest = std::max(longest, seconds_waited_for_a_cpu(one));
  return longest;
}

void watch(pid_t child, int output, const TimeLimit& time_limit, Clock::time_point start,
           const std::atomic<bool>* unwanted, ChildResult* result) {
  bool open = true, ended = false;
  double asked = INFINITY;  // when it was asked where it is
  while (!ended) {
    const double elapsed = std::chrono::duration<double>(Clock::now() - start).count();
    if (caught_signal != 0 || (unwanted && *unwanted)) break;
    const bool too_long = elapsed > time_limit.seconds &&
                          elapsed - seconds_waited_for_a_cpu(child) > time_limit.seconds;
    if (!result->timed_out && (too_long || cpu_seconds_of(child) > time_limit.cpu_seconds)) {
      result->timed_out = true;
      result->limit = too_long ? time_limit.seconds : time_limit.cpu_seconds;
      asked = elapsed;
      kill(-child, SIGUSR1);
    }
    if (elapsed > asked + kLastWordsSeconds) break;
    // The pipe's end wakes us when the child exits; a short timeout serves the rest.
    pollfd wait{output, POLLIN, 0};
    poll(&wait, open ? 1 : 0, open ? 50 : 1);
    if (open) open = drain(output, &result->output);
    // What the child has left in its group is ended while its number is still its own.
    siginfo_t exited{};
    ended = waitid(P_PID, static_cast<id_t>(child), &exited, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            exited.si_pid == child;
  }
}

}  // namespace

bool wait_for_build(const std::string& built, const std::atomic<bool>* unwanted) {
  if (built.empty()) return true;
  int status = 0;
  // Whoever makes the file writes into it a moment later.
  while (!(std::ifstream(built) >> status)) {
    if (caught_signal != 0) throw Interrupted(caught_signal);
    if (unwanted && *unwanted) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return status == 0;
}

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    // What nohup made us ignore stays ignored.
    if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;
    sigaction(signal, &action, nullptr);
  }
}

std::string ChildResult::last_line() const {
  std::string last, of_launcher;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    const bool ended = !lines.eof();
    if (ended && !line.empty() && line.back() == '\r') line.pop_back();  // "\r\n"
    // What a progress line left before a carriage return is not part of the message.
    line.erase(0, line.rfind('\r') + 1);
    if (line.find_first_not_of(" \t") == std::string::npos) continue;
    // A launcher of ranks that are ended may say so of itself, behind the program's words.
    (line.rfind("[warn] ", 0) == 0 ? of_launcher : last) = line;
  }
  return harmless((last.empty() ? of_launcher : last).substr(0, 500));
}

ChildResult run_child(const std::vector<std::string>& command, const TimeLimit& time_limit,
                      const std::atomic<bool>* unwanted, const std::string& report) {
  ChildResult result;
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const std::string name = "LAB_REPORT=", setting = name + report;
  std::vector<char*> environment = {const_cast<char*>(setting.c_str())};
  for (char** word = environ; *word; ++word) {
    if (std::strncmp(*word, name.c_str(), name.size()) != 0) environment.push_back(*word);
  }
  environment.push_back(nullptr);

  // The second pipe tells whether exec worked: it closes by itself where it did.
  int output[2], exec_error[2];  // where they are read, and written
  if (pipe2(output, O_CLOEXEC) != 0 || pipe2(exec_error, O_CLOEXEC) != 0) {
    throw std::runtime_error(std::string("no pipe to a child process: ") + std::strerror(errno));
  }
  // Processes whose parent ends become children of this one, and not of the system's first.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const Clock::time_point start = Clock::now();
  const pid_t parent = getpid();
  std::unique_lock<std::mutex> starting(running_mutex);
  const pid_t child = fork();
  if (child < 0) {
    throw std::runtime_error(std::string("no child process: ") + std::strerror(errno));
  }
  if (child == 0) {
    become(argv.data(), environment.data(), parent, output[1], exec_error[1]);
  }
  setpgid(child, child);  // in both processes, so that it holds whichever comes first
  running.insert(child);
  starting.unlock();
  close(output[1]);
  close(exec_error[1]);
  fcntl(output[0], F_SETFL, O_NONBLOCK);

  int error = 0;
  result.started = TEMP_FAILURE_RETRY(read(exec_error[0], &error, sizeof error)) == 0;
  close(exec_error[0]);

  int status = 0;
  rusage used{};
  watch(child, output[0], time_limit, start, unwanted, &result);
  kill(-child, SIGKILL);
  TEMP_FAILURE_RETRY(wait4(child, &status, 0, &used));
  end_left_behind(child);
  drain(output[0], &result.output);
  close(output[0]);
  if (result.output.size() > kMaxOutput) {
    result.output.erase(0, result.output.size() - kMaxOutput);
  }
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  auto seconds = [](const timeval& t) { return t.tv_sec + 1e-6 * t.tv_usec; };
  result.cpu_seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
  result.max_bytes = 1024.0 * used.ru_maxrss;
  if (caught_signal != 0) throw Interrupted(caught_signal);

  if (!result.started) {
    result.output = std::strerror(error);
  } else if (WIFEXITED(status)) {
    result.exit_code = WEXITSTATUS(status);
  } else if (WIFSIGNALED(status) && !result.timed_out) {
    result.signal = WTERMSIG(status);
  }
  return result;
}

std::string describe_signal(int signal) {
  static const std::map<int, const char*> kSignals = {
      {SIGSEGV, "SIGSEGV, a memory access that is not allowed"},
      {SIGBUS, "SIGBUS, a memory access that cannot be served"},
      {SIGABRT, "SIGABRT, it called abort (a failed assert, an exception, a damaged heap)"},
      {SIGFPE, "SIGFPE, an integer division by zero"},
      {SIGILL, "SIGILL, an instruction that this CPU does not have"},
      {SIGKILL, "SIGKILL, it was ended from outside: often by the system, out of memory"},
      {SIGXCPU, "SIGXCPU, it used up the CPU time that it may take"},
      {SIGXFSZ, "SIGXFSZ, a file grew larger than files may"}};
  const auto at = kSignals.find(signal);
  if (at != kSignals.end()) return at->second;
  return "signal " + std::to_string(signal) + ", " + strsignal(signal);
}

}  // namespace validate
