#pragma once

#include <string>
#include <vector>

#include <lab/options.h>

#include "child.h"
#include "record.h"

namespace validate {

/// One run of a step's program.
struct Case {
  lab::ProblemKind problem;
  int n;
  int iterations;
  int check_every = 0;   ///< --check-every; 0: what the step does unless told otherwise
  double tolerance = 0;  ///< where not 0: stop at a residual this small, or after `iterations`
  int ranks = 0;         ///< of the job as which it is started; 0: it is started by itself
  const char* halos =
      nullptr;  ///< LAB_HALOS of a job, "mpi" or "nccl"; null: what it does by itself
};

/// What starts a job of several ranks: it stands beside this program.
std::string launcher();

/// "probe, n = 100, 10 iterations", and where they are given ", --check-every 7" and ", 3 ranks".
std::string describe(const Case& run);

/// What a program said last, without its own name in front: whoever prints this has a name for it.
std::string last_words(const ChildResult& child);

/// A run of the program and what it left behind.
struct Run {
  ChildResult child;
  Record record;
  std::string error;  ///< not empty: there is no record to compare, and this is why
};

/// Runs `program` with a record in `dir`, which is emptied before; `hashed`: of row hashes.
Run run_program(const std::string& program, const Case& run, bool hashed, const std::string& dir,
                double time_limit);

/// The field that a run left in `dir`: n x n floats, row j outer. Empty where it cannot be read.
std::vector<float> read_field(const std::string& dir, int n);

}  // namespace validate
