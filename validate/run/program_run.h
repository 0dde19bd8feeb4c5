#pragma once

#include <atomic>
#include <string>

#include <cuda_on_cpu/report.h>
#include <lab/options.h>

#include "run/child.h"
#include "run/record.h"

namespace validate {

struct Case {
  lab::ProblemKind problem;
  int n;
  int iterations;
  int check_every = 0;   ///< --check-every; 0: what the step does unless told otherwise
  double tolerance = 0;  ///< where not 0: stop at a residual this small, or after `iterations`
  int ranks = 0;         ///< of the job as which it is started; 0: it is started by itself
  const char* halos =
      nullptr;  ///< LAB_HALOS of a job, "mpi" or "nccl"; null: what it does by itself
  const char* order = nullptr;  ///< LAB_CPU_ORDER: "reverse", "shuffled"; null: as it is set here
  bool strict = false;          ///< LAB_CPU_STRICT=1
  lab::FieldRecord field = lab::FieldRecord::kFull;  ///< --record-field
};

/// The folder in which this program stands, and beside it the lab's others.
std::string program_folder();

inline std::string launcher() { return program_folder() + "/ranks"; }

/// "probe, n = 100, 10 iterations"; if they are given also ", --check-every 7", ", 3 ranks" and
/// ", threads in reverse order".
std::string describe(const Case& run);

/// What a program said last, without its own name in front: whoever prints this has a name for it.
std::string last_words(const ChildResult& child);

struct Run {
  ChildResult child;
  Record record;
  cuda_on_cpu::Report report{""};  ///< why it ended, as it says itself; no kind: it said nothing
  std::string error;               ///< not empty: there is no record to compare, and this is why
  std::string machine;  ///< not empty: the program is not to blame for that; the reason, one line
};

/// Runs `program` with a record in `dir`, which is emptied before. A run that becomes `unwanted` is
/// ended early (see run_child).
Run run_program(const std::string& program, const Case& run, const std::string& dir,
                const TimeLimit& time_limit, const std::atomic<bool>* unwanted = nullptr);

/// Points a side unless --n says otherwise, as the program's --help tells; 0: it does not.
int default_n(const std::string& program);

/// Whether jobs of several ranks can be started here at all: "" if they can, else what the launcher
/// says.
std::string why_no_jobs(double time_limit);

}  // namespace validate
