#include "goals/instruments.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <tuple>

#include <glob.h>

#include <cuda_on_cpu/rows.h>

#include "run/child.h"
#include "run/program_run.h"
#include "run/steps.h"
#include "run/text.h"
#include "source/source_code.h"

namespace validate {
namespace {

/// The most GPUs that a job can have here: each has a device file. Without such files (WSL) no
/// limit is known.
int most_gpus() {
  glob_t files{};
  const bool known = glob("/dev/nvidia[0-9]*", 0, nullptr, &files) == 0;
  const int count = known ? static_cast<int>(files.gl_pathc) : std::numeric_limits<int>::max();
  globfree(&files);
  return count;
}

std::string kernel_name(const std::string& path, int number) {
  std::string source;
  read_text(path, &source);
  for (const Queued& work : queued_in(source)) {
    if (work.launch && work.line == number) return work.call;
  }
  return format("the kernel launched at line %d", number);
}

/// The rows of a table without its heading, whose first word is given.
template <class Row>
std::vector<Row> read_rows(const std::string& path, const char* heading) {
  std::vector<Row> rows;
  std::ifstream file(path);
  Row row;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(heading, 0) != 0 && cuda_on_cpu::read_row(line, &row)) rows.push_back(row);
  }
  return rows;
}

/// What the threads of a kernel do at one line of the source, as LAB_CPU_COUNTS has it.
struct CountRow {
  std::string file, space, access;
  int line = 0, kernel_line = 0;
  double launches = 0, bytes = 0, requests = 0, threads = 0, sectors = 0;
  double passes = 0, conflicts = 0, addresses = 0, most_at_one_address = 0;
  double blocks = 0, launched_blocks = 0;
  template <class Self>
  static auto columns(Self& self) {
    return std::tie(self.file, self.line, self.kernel_line, self.launches, self.space, self.access,
                    self.bytes, self.requests, self.threads, self.sectors, self.passes,
                    self.conflicts, self.addresses, self.most_at_one_address, self.blocks,
                    self.launched_blocks);
  }
};

std::map<int, KernelCount> read_counts(const std::string& path) {
  std::map<int, KernelCount> kernels;
  for (const CountRow& row : read_rows<CountRow>(path, "file\t")) {
    KernelCount& kernel = kernels[row.kernel_line];
    kernel.launches = row.launches;
    kernel.blocks = row.launched_blocks;
    if (row.space != "shared" && row.access != "atomic") {
      kernel.busy_blocks = std::max(kernel.busy_blocks, row.blocks);
    }
    if (kernel.name.empty()) kernel.name = kernel_name(row.file, row.kernel_line);
    if (row.space == "shared") {
      kernel.shared_requests += row.requests;
      kernel.shared_passes += row.passes;
      if (row.access == "store" || row.access == "copy") {
        kernel.shared_values += row.threads * std::max(1.0, row.bytes / sizeof(float));
      }
    } else if (row.access == "atomic") {
      kernel.atomics += row.threads;
    } else {
      KernelCount::Accesses& all = row.access == "load" ? kernel.loads : kernel.stores;
      all.requests += row.requests;
      all.threads += row.threads;
      all.sectors += row.sectors;
      all.bytes += row.bytes * row.threads;
    }
  }
  return kernels;
}

}  // namespace

double product(const std::string& shape) {
  double all = 1;
  for (const std::string& factor : split(shape, 'x')) all *= std::atof(factor.c_str());
  return all;
}

const std::vector<TraceRow>& Trace::table(const std::string& name) const {
  static const std::vector<TraceRow> none;
  const auto found = rows.find(name);
  return found == rows.end() ? none : found->second;
}

double Trace::total(const std::string& name, const std::string& row,
                    double TraceRow::*member) const {
  double sum = 0;
  for (const TraceRow& each : table(name)) {
    if (row.empty() || each.name == row) sum += each.*member;
  }
  return sum;
}

ChildResult Bench::run(const std::vector<std::string>& command) const {
  const ChildResult child = run_child(command, have.time_limit);
  if (!child.started) throw NotMeasurable(command[0] + ": " + child.output);
  if (child.timed_out) throw NotMeasurable(format("it took more than %.0f s", have.time_limit));
  if (child.signal != 0) throw NotMeasurable("it crashed: " + describe_signal(child.signal));
  if (child.exit_code != 0) {
    const std::string said = last_words(child);
    throw NotMeasurable(said.empty() ? format("it ended with exit code %d", child.exit_code)
                                     : said);
  }
  return child;
}

void Bench::wait_for(const std::string& program) const {
  if (program.empty() || (program == have.program && !wait_for_build(have.built))) {
    throw NotMeasurable("the program for it is not built here");
  }
}

std::vector<std::string> Bench::command(const std::string& program, int n, int iterations) const {
  wait_for(program);
  std::vector<std::string> words = {program, "--iterations", std::to_string(iterations), "--quiet"};
  if (n > 0) words.insert(words.end(), {"--n", std::to_string(n)});
  return words;
}

int Bench::default_n(const std::string& program) const {
  // What the GPU runs may not be there yet.
  const bool own = program == have.program && !have.on_cpu.empty();
  const int n = validate::default_n(own ? have.on_cpu : program);
  if (n == 0) throw NotMeasurable("its --help does not say the default n");
  if (n < lab::kMinN || n > lab::kMaxN) {
    throw Measured{
        false,
        format("kDefaultN is %d, and a grid has %d to %d points per side", n, lab::kMinN,
               lab::kMaxN),
        n > lab::kMaxN ? "kDefaultN is the number of points of one side: lower it." : ""};
  }
  return n;
}

const Trace& Bench::traced(const std::vector<std::string>& asked) {
  const auto found = traces_.find(asked);
  if (found != traces_.end()) return found->second;
  const std::string rows = folder_.path() + "/trace.tsv", counts = folder_.path() + "/counts.tsv";
  std::remove(rows.c_str());
  std::remove(counts.c_str());
  std::vector<std::string> words = {"env", "LAB_TRACE_TSV=" + rows, "LAB_CPU_COUNTS=" + counts};
  words.insert(words.end(), asked.begin(), asked.end());
  Trace trace;
  trace.seconds = run(words).seconds;
  for (const TraceRow& row : read_rows<TraceRow>(rows, "table\t")) {
    trace.rows[row.table].push_back(row);
  }
  trace.kernels = read_counts(counts);
  return traces_[asked] = trace;
}

const Trace& Bench::trace(const std::string& program, int n, int iterations) {
  // Two names for one file: CUDA loads the library for kernels, NVTX for ranges. A program on the
  // CPU, and one that was built with the lab's own NVTX, write the same table by themselves.
  std::vector<std::string> words = command(program, n, iterations);
  words.insert(words.begin(), {"CUDA_INJECTION64_PATH=" + (have.on_gpu ? have.tracer : ""),
                               "NVTX_INJECTION64_PATH=" + have.tracer});
  return traced(words);
}

const Trace& Bench::trace_job(int n, int iterations, int check_every) {
  if (have.on_cpu.empty()) throw NotMeasurable("needs the program that runs on the CPU");
  std::vector<std::string> words = command(have.on_cpu, n, iterations);
  words.insert(words.begin(), {"LAB_HALOS=nccl", launcher(), "2"});
  words.insert(words.end(), {"--check-every", std::to_string(check_every)});
  return traced(words);
}

const Trace& Bench::trace_on_gpus(int ranks, int n, int iterations) {
  if (have.tracer.empty()) throw NotMeasurable("needs the tracer, which is not built here");
  std::vector<std::string> words = command(have.program, n, iterations);
  words.insert(words.begin(),
               {"CUDA_INJECTION64_PATH=" + have.tracer, launcher(), std::to_string(ranks)});
  return traced(words);
}

const Trace& Bench::trace_watched(int n, int iterations) {
  if (have.watched.empty()) {
    throw NotMeasurable("needs make count, which does not compile this program");
  }
  return trace(have.watched, n, iterations);
}

double Bench::milliseconds(const std::string& program, int n, int iterations, int ranks) {
  wait_for(program);
  Case timed{lab::ProblemKind::kLaplace, n, iterations};
  timed.ranks = ranks;
  timed.field = lab::FieldRecord::kNone;
  const Run run = run_program(program, timed, folder_.path() + "/record", have.time_limit);
  if (!run.error.empty()) throw NotMeasurable(run.error);
  if (!(run.record.median_ms > 0)) throw NotMeasurable("it was not timed");
  return run.record.median_ms;
}

int Bench::ranks_with_gpus() {
  if (ranks_with_gpus_ > 0) return ranks_with_gpus_;
  if (have.on_gpu) wait_for_build(have.compiled);
  // One after the other, the most first: a job takes seconds to start, beside the validator's.
  std::vector<int> numbers = have.ranks;
  std::sort(numbers.rbegin(), numbers.rend());
  for (const int ranks : numbers) {
    if (!have.on_gpu || ranks < 2 || ranks > most_gpus()) continue;
    // not --quiet: it has to say how rows travel
    const ChildResult job = run_child({launcher(), std::to_string(ranks), have.program, "--n",
                                       std::to_string(100 * ranks), "--iterations", "1"},
                                      have.time_limit);
    if (says(job.output, "halos: NCCL ")) return ranks_with_gpus_ = ranks;
  }
  throw NotMeasurable("needs two GPUs, and NCCL between them");
}

const Machine& Bench::gpu() {
  if (!have.on_gpu) throw NotMeasurable("needs a GPU");
  if (have.bandwidth.empty()) throw NotMeasurable("the program for it is not built here");
  if (!machine_.has_gpu) machine_ = look_at_machine(have.bandwidth);
  if (!machine_.has_gpu) throw NotMeasurable(machine_.why_not);
  return machine_;
}

}  // namespace validate
