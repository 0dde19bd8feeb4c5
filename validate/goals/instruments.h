#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <cuda_on_cpu/trace_row.h>

#include "run/child.h"
#include "run/machine.h"
#include "run/temporary_folder.h"

namespace validate {

/// The programs that measurements come from. Empty: not there.
struct Instruments {
  std::string program;      ///< the step's, as it is run
  std::string built;        ///< see wait_for_build: it is there, and free, once this says so
  std::string watched;      ///< the same on the CPU, every access counted (lab/cpu)
  std::string on_cpu;       ///< the same on the CPU, as it is: `program`, unless that needs a GPU
  std::string before;       ///< the program of the step before
  std::string tracer;       ///< lab/trace's library
  std::string bandwidth;    ///< lab/bandwidth's program
  std::string compiled;     ///< `program` can be run, but not timed yet, once this file says 0
  bool on_gpu = false;      ///< `program` runs on a GPU, and not on the CPU in its place
  std::vector<int> ranks;   ///< numbers of ranks that a job may be tried with, where it is one
  double time_limit = 300;  ///< seconds for one run
};

/// What a measurement says of a goal. It is thrown if the goal is missed before that.
struct Measured {
  bool reached;
  std::string found;
  std::string advice = "";  ///< if it is missed; empty: the table's
};

/// Why something cannot be measured here: "needs a GPU".
struct NotMeasurable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One row of a trace: how often something happened, for how long, with how many bytes.
using cuda_on_cpu::TraceRow;

/// The blocks of a kernel's launch grid, or the threads of a block: of "64x64x1", 4096.
double product(const std::string& shape);

/// What the threads of one kernel did to global memory in all its launches, counted on the CPU.
struct KernelCount {
  struct Accesses {
    double threads = 0, requests = 0, sectors = 0, bytes = 0;
  };
  std::string name;  ///< as its launch calls it: "copy_field_kernel"
  double launches = 0;
  double blocks = 0,
         busy_blocks = 0;  ///< of all launches; those that load or store in global memory
  Accesses loads, stores;
  double shared_values = 0;  ///< floats put into shared memory (what CUB does inside left out)
  double shared_requests = 0, shared_passes = 0;
  double atomics = 0;  ///< additions and the like, one a thread
};

/// What the lab's tracer, or CUDA on the CPU, noted of a run.
struct Trace {
  double seconds = 0;                                 ///< of the whole program
  std::map<std::string, std::vector<TraceRow>> rows;  ///< by table: "kernels", "nvtx" ...
  std::map<int, KernelCount> kernels;  ///< of a watched program, by the line that launches them

  const std::vector<TraceRow>& table(const std::string& name) const;
  /// What the rows of a table that are called `row` tell together. "": all of them.
  double total(const std::string& name, const std::string& row,
               double TraceRow::*member = &TraceRow::count) const;
};

/// Runs programs and reads what they left. What is measured is remembered, but for milliseconds().
class Bench {
 public:
  explicit Bench(const Instruments& instruments) : have(instruments) {}
  const Instruments have;

  /// Points a side where nobody says otherwise, as the program's --help tells. 0: it does not.
  int default_n(const std::string& program) const;

  /// A traced run. n = 0: the program's own. All members throw NotMeasurable where it cannot be.
  const Trace& trace(const std::string& program, int n, int iterations);

  /// The same of a job of two ranks, on the CPU and with NCCL's calls, which do their work in
  /// streams there, too: a run with a residual every `check_every` sweeps. Rows of all its ranks.
  const Trace& trace_job(int n, int iterations, int check_every);

  /// The same of a job with a GPU for each rank, by the tracer: rows of the rank that ends last.
  const Trace& trace_on_gpus(int ranks, int n, int iterations);

  /// The same of the watched program.
  const Trace& trace_watched(int n, int iterations);

  /// Milliseconds per iteration, the median of a run, or with `ranks` of a job of that many. Every
  /// call runs the program.
  double milliseconds(const std::string& program, int n, int iterations, int ranks = 0);

  /// The most ranks of have.ranks for which there are GPUs, one for each, and NCCL between them.
  int ranks_with_gpus();

  /// The machine, which has a GPU.
  const Machine& gpu();

 private:
  /// A run that is traced, remembered by its words: settings, "NAME=value", then the command.
  const Trace& traced(const std::vector<std::string>& asked);
  ChildResult run(const std::vector<std::string>& command) const;
  void wait_for(const std::string& program) const;
  std::vector<std::string> command(const std::string& program, int n, int iterations) const;

  TemporaryFolder folder_;
  std::map<std::vector<std::string>, Trace> traces_;
  Machine machine_;          // once it has been asked for
  int ranks_with_gpus_ = 0;  // the same
};

}  // namespace validate
