#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <lab/quantile.h>

#include "judge/check_program.h"
#include "run/machine.h"
#include "run/steps.h"

namespace validate {

struct Timing {
  double median = 0, q1 = 0, q3 = 0;  ///< milliseconds; median 0: not measured
  int samples = 0;

  bool measured() const { return median > 0; }
  double spread_percent() const { return measured() ? 100 * (q3 - q1) / median : 0; }
};

/// The median and quartiles of some times; not measured if there are none.
inline Timing summarize(std::vector<double> times) {
  if (times.empty()) return {};
  std::sort(times.begin(), times.end());
  return {lab::quantile(times, 0.5), lab::quantile(times, 0.25), lab::quantile(times, 0.75),
          static_cast<int>(times.size())};
}

struct LadderRow {
  Step step;
  std::string verdict;  ///< "right", "WRONG", "not run"
  std::string note;
  Timing time, before;       ///< before: the step before, at this n
  int ranks = 0;             ///< of the job that was timed; 0: a program of one process
  bool before_alone = true;  ///< the step before is a program of one process
};

/// Code for the CPU at one n: the best on one core, the same on all cores, and step 00.
struct CpuTimes {
  Timing best, all_cores, strided;
  int threads = 0;  ///< of all_cores
};

struct Ladder {
  Machine machine;
  std::vector<LadderRow> rows;
  std::map<int, CpuTimes> cpu;  ///< by n
  int max_strided_n = 8192;     ///< for step 00: beyond, an iteration takes over 10 s
  bool cannot_run = false;      ///< a step, by the machine's fault
};

/// "1 GPU", "2 GPUs, one rank per GPU" or "4 ranks on 2 GPUs"; what writes the tables reads it
/// in the note.
std::string gpus_in_words(const LadderRow& row, const Machine& machine);

/// What is said of a step as soon as it is known.
void print_row(const LadderRow& row);

void print_table(const Ladder& ladder);

/// Writes the table as ladder.tsv; ends the program where that fails (lab::write_whole).
void write_results(const std::string& folder, const Ladder& ladder);

inline constexpr int kCheckedRanks = 2;  ///< what a job of ranks is validated with at small n

/// Validates steps, and times them one after the other. What it has found is in *found.
class Climb {
 public:
  /// `bin`: where the programs are. `ranks`: of the jobs that are timed; 0: one for each GPU.
  Climb(const std::string& bin, int ranks, Ladder* found)
      : bin_(bin), ranks_(ranks), found_(*found) {}

  /// Validates steps, several at a time: to be called before measure(), as nothing may run beside
  /// what is timed. A program that is not there is left out.
  void check(const std::vector<const Step*>& steps);

  /// Adds a row for the step, and prints it. Returns false where the step is wrong or has no time.
  bool measure(const Step& step, const Step* previous);

  /// The CPU's times at every n that was timed: the best code on one core and on all, and the
  /// strided one, which is the first step.
  void measure_cpu(const Step& strided);

 private:
  /// What runs in place of a GPU is validated, and not timed.
  bool in_place_of_gpu(const Step& step) const {
    return step.needs_cuda && !found_.machine.has_gpu;
  }
  std::string program_of(const Step& step) const {
    return bin_ + "/solution_" + step.name + (in_place_of_gpu(step) ? "_cpu" : "");
  }
  /// Of the job as which the step is timed; 0: it is a program of one process.
  int ranks_of(const Step& step) const {
    if (!step.needs_ranks) return 0;
    return ranks_ > 0 ? ranks_ : found_.machine.gpus;
  }
  Timing time(const Step& step, int n, int iterations);
  /// `own_n`: at the step's own n, too.
  Verdict check(const Step& step, bool own_n) const;
  Timing time_before(const Step& step, const Step& previous);

  const std::string bin_;
  const int ranks_;
  Ladder& found_;
  std::map<std::string, Verdict> checked_;  // by the step's name
};

}  // namespace validate
