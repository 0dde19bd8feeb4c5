#include "run/program_run.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <system_error>

#include <sys/resource.h>

#include "run/text.h"

namespace validate {
namespace {

/// A limit of this process, which its children inherit; 0: there is none.
double limit_of(__rlimit_resource resource) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 0;
  return static_cast<double>(limit.rlim_cur);
}

/// "60 MB"
std::string size_in_words(double bytes) {
  if (bytes >= 1e9) return format("%.3g GB", 1e-9 * bytes);
  return bytes >= 1e6 ? format("%.3g MB", 1e-6 * bytes) : format("%.3g KB", 1e-3 * bytes);
}

/// What an MPI job needs of TMPDIR for itself: Open MPI's memory that the ranks share.
constexpr double kBytesOfAJob = 8e6;

/// Why a run left no record, if that is the machine's trouble and not the program's: a limit, or no
/// space. Else "".
std::string trouble_of_machine(const Case& run, const ChildResult& child, const std::string& dir) {
  const std::string said = last_words(child);
  const double cpu_limit = limit_of(RLIMIT_CPU), memory_limit = limit_of(RLIMIT_AS);
  const std::string cpu =
      format("a program may use %.0f s of CPU time here (ulimit -t)", cpu_limit);
  if (child.signal == SIGXCPU) return cpu;
  if (child.signal == SIGXFSZ || says(said, "File too large")) {
    return "a file may have " + size_in_words(limit_of(RLIMIT_FSIZE)) + " here (ulimit -f)";
  }
  if (child.signal == SIGKILL) {
    if (cpu_limit > 0 && child.cpu_seconds > cpu_limit - 1) return cpu;
    // A program that takes far more memory than its fields need is to blame for that itself.
    const double needed = 1e9 + 40.0 * run.n * run.n;
    if (child.max_bytes > needed) return "";
    return "the program was ended from outside (SIGKILL), often by the system, out of memory";
  }
  // The lab's own words before anything is allocated; a cudaMalloc that fails is another matter.
  if (child.exit_code == lab::kExitDoesNotFit && says(said, "the largest n that fits is")) {
    return said;
  }
  if (memory_limit > 0 &&
      (child.exit_code == lab::kExitDoesNotFit || says(child.output, "std::bad_alloc") ||
       says(child.output, "annot allocate memory"))) {
    return "a program may have " + size_in_words(memory_limit) + " of memory here (ulimit -v)";
  }
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(dir).parent_path();
  const std::filesystem::space_info space = std::filesystem::space(folder, error);
  if (says(child.output, "No space left on device") || says(child.output, "not enough space") ||
      (!error && static_cast<double>(space.available) < (run.ranks > 0 ? kBytesOfAJob : 1e5))) {
    return "no space is left in " + folder.parent_path().string() +
           " (TMPDIR names another folder)";
  }
  return child.exit_code == lab::kExitCannotWrite ? said : "";
}

std::vector<std::string> command_of(const std::string& program, const Case& run,
                                    const std::string& dir, const std::string& job_folder) {
  std::vector<std::string> command;
  auto add = [&](std::initializer_list<std::string> words) {
    command.insert(command.end(), words);
  };
  if (run.halos || run.order || run.strict || run.ranks > 0) add({"env"});
  if (run.halos) add({std::string("LAB_HALOS=") + run.halos});
  if (run.order) add({std::string("LAB_CPU_ORDER=") + run.order});
  if (run.strict) add({"LAB_CPU_STRICT=1"});
  if (run.ranks > 0) add({"TMPDIR=" + job_folder, launcher(), std::to_string(run.ranks)});
  add({program, "--n", std::to_string(run.n)});
  if (run.tolerance > 0) add({"--tolerance", format("%.17g", run.tolerance)});
  add({run.tolerance > 0 ? "--max-iterations" : "--iterations", std::to_string(run.iterations)});
  add({"--problem", lab::problem_name(run.problem), "--record", dir});
  add({"--record-field", lab::kFieldRecordNames[static_cast<int>(run.field)]});
  if (run.check_every > 0) add({"--check-every", std::to_string(run.check_every)});
  add({"--quiet"});
  return command;
}

/// Why there is no record to compare, which is read into *record; "": there is one.
std::string why_no_record(const std::string& program, const Case& run, const ChildResult& child,
                          const std::string& dir, Record* record) {
  const std::string said = last_words(child);
  if (!child.started) return program + ": " + child.output;
  if (child.timed_out) {
    // What prints without end may have to wait for its reader.
    const bool idle = run.ranks == 0 && child.cpu_seconds < 0.05 * child.limit &&
                      child.output.size() < (32 << 10);
    return format("it did not end within %.*f s", child.limit < 1 ? 1 : 0, child.limit) +
           (idle ? ", and used almost no CPU time: it waits (for the GPU or for input), or was "
                   "stopped"
                 : ": an endless loop, a deadlock, or very slow");
  }
  if (child.signal != 0) return "it crashed: " + describe_signal(child.signal);
  const std::string ended = format("it ended with exit code %d", child.exit_code);
  if (child.exit_code > lab::kExitNotConverged) {
    return ended + (said.empty() ? ", and said nothing" : ": " + said);
  }
  std::error_code ignored;
  if (!std::filesystem::exists(dir + "/run.json", ignored)) {
    return ended + " before Run wrote its record: " +
           (child.exit_code == 0 || said.empty()
                ? "does main get to its end, where it calls run.finish?"
                : said);
  }
  std::string error;
  if (!read_record(dir, run.n, run.iterations, record, &error)) {
    return "its record cannot be used: " + error;
  }
  if (run.ranks > 0 && record->ranks != run.ranks) {
    return format(
        "%d ranks were started, but each knows of %d: each computes the whole field by itself, "
        "instead of sharing it (where is lab::Ranks?)",
        run.ranks, record->ranks);
  }
  if (run.tolerance == 0 && child.exit_code != 0 && record->iterations == run.iterations &&
      !record->residuals.empty() && !std::isnan(record->residuals.back().value)) {
    return format("it performed all %d iterations, but still ended with exit code %d",
                  run.iterations, child.exit_code);
  }
  return "";
}

}  // namespace

std::string program_folder() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path().string();
}

std::string describe(const Case& run) {
  const bool to_tolerance = run.tolerance > 0;
  std::string text = format("%s, n = %d, ", lab::problem_name(run.problem), run.n);
  text += to_tolerance ? format("--tolerance %.3g", run.tolerance)
                       : counted(run.iterations, "iteration");
  if (run.check_every > 0 && !to_tolerance) text += format(", --check-every %d", run.check_every);
  if (run.ranks > 0) text += ", " + counted(run.ranks, "rank");
  if (run.ranks > 0 && run.halos) {
    text += std::string(", halos by ") + (std::string(run.halos) == "nccl" ? "NCCL" : "MPI");
  }
  if (run.order) text += format(", threads in %s order", run.order);
  return text;
}

std::string last_words(const ChildResult& child) {
  const std::string said = child.last_line();
  const std::size_t colon = said.find(": ");
  return colon < said.find(' ') ? said.substr(colon + 2) : said;
}

Run run_program(const std::string& program, const Case& run, const std::string& dir,
                const TimeLimit& time_limit, const std::atomic<bool>* unwanted) {
  Run result;
  std::error_code ignored;
  std::filesystem::remove_all(dir, ignored);
  const std::string report = dir + "-report.tsv";
  std::filesystem::remove(report, ignored);
  // What a launcher leaves behind when it is ended goes with its folder; and no other one removes
  // what it has there, as those do that share a folder and end at that moment.
  const std::string job_folder = dir + "-job";
  if (run.ranks > 0) std::filesystem::create_directories(job_folder, ignored);
  result.child = run_child(command_of(program, run, dir, job_folder), time_limit, unwanted, report);
  std::filesystem::remove_all(job_folder, ignored);
  result.report = cuda_on_cpu::read_report(report);
  std::filesystem::remove(report, ignored);
  ChildResult& child = result.child;
  if (run.ranks > 0 && child.exit_code > 128 && child.exit_code < 128 + 32) {
    child.signal = child.exit_code - 128;  // what ended one rank, as a launcher tells it
  }
  result.error = why_no_record(program, run, child, dir, &result.record);
  if (!result.error.empty() && child.started && !child.timed_out) {
    result.machine = trouble_of_machine(run, child, dir);
  }
  return result;
}

int default_n(const std::string& program) {
  const std::string help = run_child({program, "--help"}, 60).output;
  const std::size_t option = help.find("--n N");
  const std::size_t at = option == std::string::npos ? option : help.find("(default ", option);
  return at == std::string::npos ? 0 : std::atoi(help.c_str() + at + 9);
}

std::string why_no_jobs(double time_limit) {
  const ChildResult child = run_child({launcher(), "2", "true"}, std::min(time_limit, 60.0));
  if (child.started && child.exit_code == 0) return "";
  const std::string said = child.started ? last_words(child) : child.output;
  return "MPI starts no job here: " +
         (said.empty() ? format("%s ends with exit code %d", launcher().c_str(), child.exit_code)
                       : said);
}

}  // namespace validate
