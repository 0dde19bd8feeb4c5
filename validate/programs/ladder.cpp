// Validates every solution, times it, and prints the ladder: what each step brings, compared with
// the copy bandwidth and the serial code measured in the same run. Writes the table as DIR/ladder.tsv;
// what an interrupted run has measured goes to DIR/ladder.interrupted.tsv.

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <unistd.h>

#include <lab/exit_codes.h>

<<<<<<< HEAD
#include "judge/check_program.h"
#include "judge/reference.h"
#include "programs/command_line.h"
#include "run/child.h"
#include "run/program_run.h"
=======
#include "ladder/machine.h"
#include "ladder/measure.h"
#include "ladder/table.h"
#include "programs/command_line.h"
>>>>>>> wt-judge
#include "run/steps.h"

namespace {

using validate::show_progress;

constexpr const char* kHelp =
    "ladder [options]: validates and times every step's solution, and prints the ladder\n\n"
    "  --lab DIR            the lab's folder (default: where this was built)\n"
    "  --bin DIR            where the programs are (default: where this program is)\n"
    "  --results DIR        write DIR/ladder.tsv (DIR/ladder.interrupted.tsv, where the run is\n"
    "                       interrupted: an earlier ladder stays)\n"
    "  --steps NN,NN,...    only these steps\n"
    "  --ranks R            time steps that are jobs of ranks with so many (default: one for each\n"
    "                       GPU of this machine)\n"
    "  --time-limit S       seconds for one run of a program (default 300)\n"
    "  --help               print this\n\n"
    "exit codes: 0 every solution that can run here is right, 1 one is wrong, 2 bad usage,\n"
    "            4 cannot write, 77 a step cannot run here (no space left, a limit, no MPI job)\n";

constexpr int kMaxRanks = 64;
<<<<<<< HEAD
constexpr int kCheckedRanks = 2;    // what a job of ranks is validated with at small n
constexpr std::size_t kWidth = 80;  // columns of a terminal

/// One line that says what goes on: overwritten on a terminal, elsewhere nothing.
void show_progress(const char* pattern, ...) __attribute__((format(printf, 1, 2)));
void show_progress(const char* pattern, ...) {
  if (!isatty(STDERR_FILENO)) return;
  std::fputs("\r\033[K", stderr);
  va_list arguments;
  va_start(arguments, pattern);
  std::vfprintf(stderr, pattern, arguments);
  va_end(arguments);
}

struct Timing {
  double median = 0, q1 = 0, q3 = 0;  // milliseconds; median 0: not measured
  int samples = 0;

  bool measured() const { return median > 0; }
  double spread_percent() const { return measured() ? 100 * (q3 - q1) / median : 0; }
};

Timing summarize(std::vector<double> times) {
  if (times.empty()) return {};
  std::sort(times.begin(), times.end());
  const std::size_t last = times.size() - 1;
  return {times[times.size() / 2], times[last / 4], times[last - last / 4],
          static_cast<int>(times.size())};
}

/// What the machine is: from the program `bandwidth`, nvidia-smi and /proc.
struct Machine {
  bool has_gpu = false;
  int gpus = 0;
  std::string why_not;  // where there is no usable GPU
  std::string gpu, compute_capability, cuda, driver = "unknown", cpu = "unknown";
  double copy_gb_per_s = 0, copy_q1 = 0, copy_q3 = 0;  // the best of the ways to copy
  std::string copy_way;
};

std::string cpu_name() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    const std::size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "unknown";
}

std::string driver_version() {
  const validate::ChildResult smi = validate::run_child(
      {"nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"}, 30);
  const bool said = smi.started && smi.exit_code == 0 && !smi.output.empty();
  return said ? validate::split(smi.output, '\n').front() : "unknown";
}

/// What the program `bandwidth` prints: lines of a name and its fields, tabs between them.
class BandwidthOutput {
 public:
  explicit BandwidthOutput(const std::string& output) {
    for (const std::string& line : validate::split(output, '\n')) {
      const std::vector<std::string> fields = validate::split(line, '\t');
      if (!fields.empty()) lines_[fields[0]] = fields;
    }
  }
  /// The k-th field behind the name. Throws std::runtime_error where there is none.
  std::string text(const std::string& name, std::size_t k = 1) const {
    const auto found = lines_.find(name);
    if (found != lines_.end() && k < found->second.size()) return found->second[k];
    throw std::runtime_error("the program bandwidth does not tell `" + name + "`: build it again");
  }
  double number(const std::string& name, std::size_t k) const {
    return std::strtod(text(name, k).c_str(), nullptr);
  }

 private:
  std::map<std::string, std::vector<std::string>> lines_;
};

Machine look_at_machine(const std::string& bin) {
  Machine machine;
  machine.cpu = cpu_name();
  const char* backend = std::getenv("BACKEND");
  if (backend && backend == std::string("cpu")) {
    machine.why_not = "BACKEND=cpu asks for none";
    return machine;
  }
  const std::string program = bin + "/bandwidth";
  if (!std::filesystem::exists(program)) {
    machine.why_not = "no GPU was found, or no nvcc";
    return machine;
  }
  const validate::ChildResult measured = validate::run_child({program}, 120);
  if (measured.exit_code != 0) {
    machine.why_not = measured.last_line();
    return machine;
  }
  const BandwidthOutput told(measured.output);
  machine.has_gpu = true;
  machine.gpus = std::max(1, static_cast<int>(told.number("gpus", 1)));
  machine.gpu = told.text("gpu");
  machine.compute_capability = told.text("compute_capability");
  machine.cuda = told.text("cuda_runtime");
  for (const char* way : {"copy_library", "copy_kernel"}) {
    const double median = told.number(way, 1);
    if (median > machine.copy_gb_per_s) {
      machine.copy_gb_per_s = median;
      machine.copy_q1 = told.number(way, 2);
      machine.copy_q3 = told.number(way, 3);
      machine.copy_way = way;
    }
  }
  machine.driver = driver_version();
  return machine;
}

/// Runs a step's program for its times alone; `ranks`: of the job as which it is started, or 0.
Timing time_program(const std::string& program, int n, int iterations, int ranks,
                    double time_limit) {
  const validate::TemporaryFolder folder;
  validate::Case timed{lab::ProblemKind::kLaplace, n, iterations};
  timed.ranks = ranks;
  const validate::Run run =
      validate::run_program(program, timed, true, folder.path() + "/record", time_limit);
  if (!run.error.empty() || run.child.exit_code != 0) return {};
  return {run.record.median_ms, run.record.q1_ms, run.record.q3_ms, run.record.samples};
}

/// The best serial code that the lab has: the reference on one thread. Rows in order, two fields
/// that change roles in place of a copy, vector instructions, -O3.
Timing time_best_serial(int n) {
  using Clock = std::chrono::steady_clock;
  validate::Reference reference(lab::Problem(lab::ProblemKind::kLaplace, n, 1), 1);
  reference.sweep();  // warms up
  std::vector<double> times;
  double total = 0;
  // On a small grid one sweep is too short for the clock: time several as one.
  const int sweeps = std::max(1, 1000000 / (n * n));
  while (static_cast<int>(times.size()) < kSerialSamples && total < 1e3 * kSerialSeconds) {
    const Clock::time_point start = Clock::now();
    for (int k = 0; k < sweeps; ++k) reference.sweep();
    const double ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    times.push_back(ms / sweeps);
    total += ms;
  }
  return summarize(times);
}

struct Row {
  validate::Step step;
  std::string verdict;  // "right", "WRONG", "not run"
  std::string note;
  Timing time, before;       // before: the step before, at this n
  int ranks = 0;             // of the job that was timed; 0: a program of one process
  bool before_alone = true;  // the step before is a program of one process
};

struct Serial {
  Timing best, strided;
};

std::string number(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

/// About four significant digits, without an exponent.
std::string significant(double value) {
  if (value >= 1000) return number(value, 0);
  if (value >= 100) return number(value, 1);
  if (value >= 10) return number(value, 2);
  if (value >= 1) return number(value, 3);
  return number(value, 4);
}

double mpoints_per_s(const Row& row) { return 1e-3 * row.step.n * row.step.n / row.time.median; }

/// Whether the step has kernels: what runs on the CPU is not told against the GPU's bandwidth.
bool runs_on_gpu(const Row& row) {
  return std::filesystem::path(row.step.source).extension() == ".cu";
}

double gb_per_s(const Row& row) { return 1e-3 * kBytesPerPoint * mpoints_per_s(row); }

/// How many GPUs the row's time is of: ranks that outnumber them share them.
int gpus_of(const Row& row, const Machine& machine) {
  return std::max(1, std::min(row.ranks, machine.gpus));
}

/// "1 GPU", "2 GPUs, a rank each" or "4 ranks on 2 GPUs"; scripts/publish reads it in the note.
std::string gpus_in_words(const Row& row, const Machine& machine) {
  const int gpus = gpus_of(row, machine);
  const std::string words = std::to_string(gpus) + (gpus == 1 ? " GPU" : " GPUs");
  if (row.ranks > gpus) return std::to_string(row.ranks) + " ranks on " + words;
  return words + (gpus > 1 ? ", a rank each" : "");
}

/// What a copy on all GPUs of the row's time would reach together, in GB/s; 0 where the step is not
/// to be told against it.
double copy_gb_per_s(const Row& row, const Machine& machine) {
  return runs_on_gpu(row) ? machine.copy_gb_per_s * gpus_of(row, machine) : 0;
}

bool is_timed_job(const Row& row) { return row.ranks > 0 && row.time.measured(); }

/// On how many GPUs the jobs of ranks were timed: "14, 15: on 2 GPUs, a rank each; the step before
/// 14 ran on one". All jobs of a run have as many ranks. Empty where there is none.
std::string jobs_in_words(const std::vector<Row>& rows, const Machine& machine) {
  std::string numbers, how, before;
  for (const Row& row : rows) {
    if (!is_timed_job(row)) continue;
    numbers += (numbers.empty() ? "" : ", ") + row.step.number();
    how = (row.ranks > machine.gpus ? "" : "on ") + gpus_in_words(row, machine);
    if (gpus_of(row, machine) > 1 && row.before_alone && row.before.measured()) {
      before = "; the step before " + row.step.number() + " ran on one";
    }
  }
  return numbers.empty() ? "" : numbers + ": " + how + before;
}

/// Prints a paragraph, in lines of at most 80 columns, each with `indent` before it.
void print_wrapped(const std::string& text, const std::string& indent = "") {
  std::string line;
  for (const std::string& word : validate::split(text, ' ')) {
    if (!line.empty() && indent.size() + line.size() + 1 + word.size() > kWidth) {
      std::printf("%s%s\n", indent.c_str(), line.c_str());
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  std::printf("%s%s\n", indent.c_str(), line.c_str());
}

std::string ms_text(const Timing& time) { return time.measured() ? significant(time.median) : "-"; }

std::string ratio_text(const Timing& other, const Row& row) {
  return other.measured() ? significant(other.median / row.time.median) : "-";
}

void print_table(const std::vector<Row>& rows, const std::map<int, Serial>& serial,
                 const Machine& machine) {
  std::printf("\n%-22s %-7s %5s %9s %6s %8s %7s %6s\n", "step", "valid", "n", "ms/iter", "spread",
              "Mpts/s", "GB/s", "% copy");
  for (const Row& row : rows) {
    const std::string name = row.step.number() + " " + row.step.title;
    if (!row.time.measured()) {
      std::printf("%-22s %-7s %s\n", name.c_str(), row.verdict.c_str(),
                  row.verdict == "right" ? "      - no time: it ran on the CPU" : "");
      continue;
    }
    const double of_gpus = copy_gb_per_s(row, machine);
    const std::string copy = of_gpus > 0 ? number(100 * gb_per_s(row) / of_gpus, 1) : "-";
    std::printf("%-22s %-7s %5d %9s %5s%% %8s %7s %6s\n", name.c_str(), row.verdict.c_str(),
                row.step.n, significant(row.time.median).c_str(),
                number(row.time.spread_percent(), 1).c_str(), number(mpoints_per_s(row), 0).c_str(),
                number(gb_per_s(row), 1).c_str(), copy.c_str());
  }
  const std::string jobs = jobs_in_words(rows, machine);
  if (!jobs.empty()) print_wrapped(jobs);

  // Where nothing was timed there is nothing to compare.
  if (!serial.empty()) {
    std::printf("\n%-22s %7s %13s %13s %13s\n", "speed-up over", "n", "step before", "best serial",
                "strided serial");
  }
  for (const Row& row : rows) {
    const auto found = serial.find(row.step.n);
    if (!row.time.measured() || found == serial.end()) continue;
    const std::string name = row.step.number() + " " + row.step.title;
    std::printf("%-22s %7d %13s %13s %13s\n", name.c_str(), row.step.n,
                ratio_text(row.before, row).c_str(), ratio_text(found->second.best, row).c_str(),
                ratio_text(found->second.strided, row).c_str());
  }
  std::printf("\n%s", serial.empty() ? "" : "Serial code, one core, ms an iteration:\n");
  for (const auto& entry : serial) {
    std::printf("  n = %-6d best %-9s (row order, -O3)   strided %s (step 00)\n", entry.first,
                ms_text(entry.second.best).c_str(), ms_text(entry.second.strided).c_str());
  }
  std::printf("CPU: %s\n", machine.cpu.c_str());
  if (machine.has_gpu) {
    std::printf("GPU: %s, CUDA %s, driver %s, copy bandwidth %.0f GB/s\n", machine.gpu.c_str(),
                machine.cuda.c_str(), machine.driver.c_str(), machine.copy_gb_per_s);
  } else {
    std::printf("GPU: none\n");
  }
  const bool several = std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
    return is_timed_job(row) && gpus_of(row, machine) > 1;
  });
  std::printf("\n");
  print_wrapped(
      "ms/iter is the median time of an iteration, spread its interquartile range. GB/s "
      "counts 8 bytes a point, the least that a sweep can move; % copy is that against "
      "the copy bandwidth (50 is the most while the field is copied, too)" +
      std::string(several ? ", on several GPUs that of all of them together" : "") +
      ". The step before was timed again where its own n is another.");
}

/// What is said of a step as soon as it is known.
void print_row(const Row& row) {
  constexpr std::size_t kWords = 52;  // the column in which they begin
  const std::string words =
      row.time.measured()
          ? significant(row.time.median) + " ms/iter at n = " + std::to_string(row.step.n)
          : row.note;
  std::printf("%-20s %-21s %-8s", row.step.name.c_str(), row.step.title.c_str(),
              row.verdict.c_str());
  if (kWords + words.size() <= kWidth) {
    std::printf(" %s\n", words.c_str());
  } else {
    std::printf("\n");
    print_wrapped(words, "  ");
  }
  std::fflush(stdout);
}

/// All that a run finds out.
struct Found {
  Machine machine;
  std::vector<Row> rows;
  std::map<int, Serial> serial;  // by n
  bool cannot_run = false;       // a step, by the machine's fault
};

std::string utc_date() {
  char date[32] = "";
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::strftime(date, sizeof date, "%Y-%m-%d", &utc);
  return date;
}

/// The table's lines with # before them: on what machine, and what its serial code takes.
void write_comments(std::FILE* file, const Found& found) {
  const Machine& machine = found.machine;
  std::fprintf(file, "# The ladder: every solution, validated and timed. Written by `make run`.\n");
  std::fprintf(file, "# date\t%s\n", utc_date().c_str());
  std::fprintf(file, "# gpu\t%s\n", machine.has_gpu ? machine.gpu.c_str() : "none");
  if (machine.has_gpu) {
    std::fprintf(file, "# compute_capability\t%s\n# cuda\t%s\n# driver\t%s\n",
                 machine.compute_capability.c_str(), machine.cuda.c_str(), machine.driver.c_str());
    std::fprintf(file, "# copy_gb_per_s\t%.1f\tq1\t%.1f\tq3\t%.1f\tby\t%s\n", machine.copy_gb_per_s,
                 machine.copy_q1, machine.copy_q3, machine.copy_way.c_str());
  }
  std::fprintf(file, "# cpu\t%s\n", machine.cpu.c_str());
  auto write_serial = [file](const char* which, int n, const Timing& time) {
    std::fprintf(file, "# serial\t%s\tn\t%d\tms\t%.6g\tq1\t%.6g\tq3\t%.6g\tsamples\t%d\n", which, n,
                 time.median, time.q1, time.q3, time.samples);
  };
  for (const auto& [n, serial] : found.serial) {
    write_serial("best", n, serial.best);
    write_serial("strided", n, serial.strided);
  }
}

void write_row(std::FILE* file, const Row& row, const Found& found) {
  std::fprintf(file, "%s\t%s\t%s\t%d\t", row.step.name.c_str(), row.step.title.c_str(),
               row.verdict.c_str(), row.step.n);
  if (!row.time.measured()) {
    std::fprintf(file, "-\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-\t%s\n", row.note.c_str());
    return;
  }
  const auto at_n = found.serial.find(row.step.n);
  const Serial serial = at_n != found.serial.end() ? at_n->second : Serial{};
  auto ratio = [&](const Timing& other) {
    return other.measured() ? number(other.median / row.time.median, 4) : std::string("-");
  };
  const double copy = copy_gb_per_s(row, found.machine);
  std::fprintf(file, "%.6g\t%.6g\t%.6g\t%d\t%.6g\t%.6g\t", row.time.median, row.time.q1,
               row.time.q3, row.time.samples, mpoints_per_s(row), gb_per_s(row));
  std::fprintf(file, "%s\t%s\t%s\t%s\t%s\t%s\n",
               copy > 0 ? number(100 * gb_per_s(row) / copy, 3).c_str() : "-",
               ratio(serial.best).c_str(), ratio(serial.strided).c_str(), ratio(row.before).c_str(),
               row.before.measured() ? number(row.before.median, 6).c_str() : "-",
               row.note.c_str());
}

/// Writes the table aside, then renames it; returns false with a message where that fails.
bool write_results(const std::string& path, const Found& found) {
  const std::string aside = path + ".partial";
  std::FILE* file = std::fopen(aside.c_str(), "w");
  if (!file) {
    std::fprintf(stderr, "ladder: %s: %s\n", aside.c_str(), std::strerror(errno));
    return false;
  }
  write_comments(file, found);
  std::fprintf(file,
               "step\ttitle\tverdict\tn\tms\tms_q1\tms_q3\tsamples\tmpoints_per_s\tgb_per_s\t"
               "percent_of_copy\tx_best_serial\tx_strided_serial\tx_before\tbefore_ms\tnote\n");
  for (const Row& row : found.rows) write_row(file, row, found);
  const bool written = std::fflush(file) == 0 && !std::ferror(file) && fsync(fileno(file)) == 0;
  if (std::fclose(file) != 0 || !written || std::rename(aside.c_str(), path.c_str()) != 0) {
    std::fprintf(stderr, "ladder: %s: %s\n", path.c_str(), std::strerror(errno));
    std::remove(aside.c_str());
    return false;
  }
  std::printf("written to %s\n", path.c_str());
  return true;
}
=======
>>>>>>> wt-judge

struct Arguments {
  std::string lab = LAB_SOURCE_DIR, results;
  std::vector<std::string> steps;
  validate::LadderOptions options;
};

Arguments read_arguments(int argc, char** argv) {
  Arguments arguments;
  validate::LadderOptions& options = arguments.options;
  std::error_code error;
  options.bin = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  validate::CommandLine line("ladder", kHelp);
  line.path("--lab", &arguments.lab);
  line.path("--bin", &options.bin);
  line.path("--results", &arguments.results);
  line.list("--steps", "step", [&](const std::string& step) { arguments.steps.push_back(step); });
  line.integer("--ranks", 1, kMaxRanks, &options.ranks);
  line.seconds("--time-limit", &options.time_limit);
  line.read(argc, argv);
  if (options.bin.empty()) {
    lab::fail(lab::kExitBadUsage, "/proc/self/exe: %s: say --bin DIR, where the programs are",
              error.message().c_str());
  }
  return arguments;
}

/// Ends the program if a step that is asked for is not in the list.
void check_steps(const std::vector<std::string>& wanted, const std::vector<validate::Step>& all) {
  for (const std::string& number : wanted) {
    const bool known = std::any_of(all.begin(), all.end(),
                                   [&](const validate::Step& s) { return s.number() == number; });
    if (!known) lab::fail(lab::kExitBadUsage, "--steps %s: no such step", number.c_str());
  }
}

/// Makes the folder for the results. Found out now, not after the measurements.
void check_results(const std::string& folder) {
  if (folder.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error || access(folder.c_str(), W_OK | X_OK) != 0) {
    lab::fail(lab::kExitCannotWrite, "--results %s: %s", folder.c_str(),
              error ? error.message().c_str() : std::strerror(errno));
  }
}

void print_machine(const validate::Machine& machine, int ranks) {
  if (machine.has_gpu) {
    std::printf("GPU: %s, copy bandwidth %.0f GB/s\n", machine.gpu.c_str(), machine.copy_gb_per_s);
  } else {
    std::printf(
        "No usable GPU here: the CPU runs the kernels in its place; results, no times\n"
        "  (%s)\n",
        machine.why_not.c_str());
    if (ranks > 0) {
      std::printf("  (--ranks %d is for times; without them jobs of ranks have %d)\n", ranks,
                  validate::kCheckedRanks);
    }
  }
  std::fflush(stdout);
}

/// Measures, and prints as it goes on. Returns the program's exit code.
int run(const Arguments& arguments, validate::Ladder* ladder) {
  const std::vector<validate::Step> steps = validate::read_steps(arguments.lab);
  const std::vector<std::string>& wanted = arguments.steps;
  check_steps(wanted, steps);
  check_results(arguments.results);
  show_progress("measuring the copy bandwidth ...");
  ladder->machine = validate::look_at_machine(arguments.options.bin);
  show_progress("");
  print_machine(ladder->machine, arguments.options.ranks);

  validate::Climb climb(arguments.options, ladder);
  bool all_right = true;
  const validate::Step* previous = nullptr;
  for (const validate::Step& step : steps) {
    if (wanted.empty() || std::count(wanted.begin(), wanted.end(), step.number()) > 0) {
      all_right &= climb.measure(step, previous);
    }
    previous = &step;
  }
  climb.measure_serial(steps.front());

  validate::print_table(*ladder);
  if (!arguments.results.empty()) {
    if (!validate::write_results(arguments.results + "/ladder.tsv", *ladder)) {
      return lab::kExitCannotWrite;
    }
    std::remove((arguments.results + "/ladder.interrupted.tsv").c_str());  // of an earlier run
  }
  if (all_right && ladder->cannot_run) return lab::kExitNoGpu;
  return all_right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = read_arguments(argc, argv);
  validate::Ladder ladder;
  return validate::run_to_exit_code(
      "ladder", [&] { return run(arguments, &ladder); },
      [&] {
        if (arguments.results.empty() || ladder.rows.empty()) return;
        validate::write_results(arguments.results + "/ladder.interrupted.tsv", ladder);
      });
}
