#include "ladder/ladder.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <future>

#include <cuda_on_cpu/machine.h>
#include <lab/problem.h>

#include "judge/check_cycles.h"
#include "ladder/all_cores.h"
#include "reference/reference.h"
#include "run/program_run.h"
#include "run/temporary_folder.h"
#include "run/text.h"

namespace validate {
namespace {

constexpr double kTimeLimit = 300;  // seconds for one run
constexpr int kCpuSamples = 11;
constexpr double kBestSeconds = 10, kStridedSeconds = 5;  // code is timed no longer than this, nor
constexpr int kStridedAtLeast = 2;        // less often than this, after one that warms up
constexpr std::size_t kStepsAtATime = 2;  // are validated
constexpr int kMaxCpuN = 16384;           // beyond it the CPU's code is not timed
constexpr double kShortMs = 0.1;          // an iteration; code that needs less is run so often:
constexpr int kShortRuns = 5;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The best code that the lab has, on one core: the reference on one thread. Rows in order, two
/// fields that change roles instead of a copy, vector instructions, -O3. The same on all cores has
/// to agree with it.
CpuTimes time_best(int n) {
  CpuTimes cpu;
  // On a small grid one sweep is too short for the clock: time several as one.
  const int sweeps = std::max(1, 1000000 / (n * n));
  // The probe, as every point of it differs from its neighbours.
  const lab::Problem problem(lab::ProblemKind::kProbe, n);
  Reference reference(problem, 1);
  reference.sweep();  // warms up
  double residual = 0;
  std::vector<double> times;
  const Clock::time_point begin = Clock::now();
  while (static_cast<int>(times.size()) < kCpuSamples && seconds_since(begin) < kBestSeconds) {
    const Clock::time_point start = Clock::now();
    for (int k = 0; k < sweeps; ++k) residual = reference.sweep();
    times.push_back(1e3 * seconds_since(start) / sweeps);
  }
  cpu.best = summarize(times);
  show_progress(format("all cores at n = %d ...", n));
  cpu.threads = useful_threads(n, cuda_on_cpu::usable_cores());
  cpu.all_cores = time_if_right(sweep_on_threads(problem, cpu.threads, cpu.best.samples, sweeps),
                                reference, residual);
  return cpu;
}

/// Whether `time` is the better one to keep. What else runs on a core can make all of a short run
/// take twice as long: of several runs the fastest counts.
bool faster(const Timing& time, const Timing& kept) {
  return time.measured() && (!kept.measured() || time.median < kept.median);
}

}  // namespace

Timing Climb::time(const Step& step, int n, int iterations) {
  show_progress(format("%s: timing, n = %d, %d iterations", step.name.c_str(), n, iterations));
  const TemporaryFolder folder;
  Case timed{lab::ProblemKind::kLaplace, n, iterations};
  timed.ranks = ranks_of(step);
  timed.field = lab::FieldRecord::kNone;
  Timing best;
  for (int k = 0; k < kShortRuns; ++k) {
    const Run run = run_program(program_of(step), timed, folder.path() + "/record", kTimeLimit);
    if (!run.error.empty() || run.child.exit_code != 0) return {};
    const Record& record = run.record;
    const Timing once = {record.median_ms, record.q1_ms, record.q3_ms, record.samples};
    if (faster(once, best)) best = once;
    if (once.median > kShortMs) break;
  }
  return best;
}

void Climb::check(const std::vector<const Step*>& steps) {
  std::vector<const Step*> there;  // the last step first, as later ones take longest
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    if (std::filesystem::exists(program_of(**step))) there.push_back(*step);
  }
  std::vector<std::future<Verdict>> started;
  for (std::size_t k = 0; k < there.size(); ++k) {
    while (started.size() < std::min(there.size(), k + kStepsAtATime)) {
      started.push_back(std::async(std::launch::async, [this, step = there[started.size()]] {
        return check(*step, !in_place_of_gpu(*step));
      }));
    }
    show_progress(
        format("%s: validating, %zu of %zu", there[k]->name.c_str(), k + 1, there.size()));
    checked_[there[k]->name] = started[k].get();
  }
  show_progress("");
}

Verdict Climb::check(const Step& step, bool own_n) const {
  if (step.by_cycles()) {
    StepCheck asked;
    asked.program = program_of(step);
    asked.time_limit = kTimeLimit;
    // Each run waits for the driver, so there are few.
    for (const int n : {100, 521}) asked.cases.push_back({lab::ProblemKind::kProbe, n, 1});
    if (own_n) asked.cases.push_back({lab::ProblemKind::kLaplace, step.n, 1});
    return check_cycles(asked, quietly);
  }
  // A step for several GPUs has to be right with two ranks, and at the n that is timed with as many
  // as it is timed with. `make check` and the tests try more.
  const std::vector<int> ranks =
      step.needs_ranks ? std::vector<int>{kCheckedRanks} : std::vector<int>{};
  const bool on_gpu = step.needs_cuda && !in_place_of_gpu(step);
  Extent extent;
  extent.few_checks = true;
  extent.own_n = own_n ? step.n : 0;
  extent.own_ranks = ranks_of(step);
  std::vector<Case> cases;
  if (on_gpu) {
    // Each run waits for the driver, so there are few: every problem, awkward sizes, and the step's
    // own n, a multiple of its blocks' shape.
    cases = cases_for_gpu(ranks);
    cases.push_back(
        {lab::ProblemKind::kHarmonic, 250, 5, 0, 0, step.needs_ranks ? kCheckedRanks : 0});
  } else {
    cases = with_ranks(usual_cases(), ranks);
  }
  return check_program(program_of(step), cases, kTimeLimit, quietly, {}, extent);
}

/// The step before, at this step's n, as it is timed itself; nothing where it is not right.
Timing Climb::time_before(const Step& step, const Step& previous) {
  const bool looked_at = !found_.rows.empty() && found_.rows.back().step.name == previous.name;
  if (looked_at) {
    const Timing& last = found_.rows.back().time;
    if (!last.measured() || previous.n == step.n) return last;
  } else if (check(previous, false).kind != Verdict::kRight) {  // with --steps
    return {};
  }
  return time(previous, step.n, step.iterations);
}

bool Climb::measure(const Step& step, const Step* previous) {
  LadderRow row;
  row.step = step;
  bool as_it_should_be = true;
  if (!std::filesystem::exists(program_of(step))) {
    row.verdict = "not run";
    row.note = step.needs_ranks ? "not built: needs MPI" : "not built";
  } else {
    // Correct first: what is not right gets no time.
    const bool on_cpu = in_place_of_gpu(step), timed = !on_cpu && !step.by_cycles();
    const Verdict& verdict = checked_.at(step.name);
    if (verdict.kind == Verdict::kRight) {
      row.verdict = "right";
      if (timed) row.time = time(step, step.n, step.iterations);
      as_it_should_be = !timed || row.time.measured();
      if (timed) row.ranks = ranks_of(step);
      if (!row.time.measured()) {
        row.note = timed ? "could not be timed" : on_cpu ? "on the CPU" : "cycles, not sweeps";
      } else if (row.ranks > 0) {
        row.note = gpus_in_words(row, found_.machine);
      }
    } else {
      row.verdict = verdict.kind == Verdict::kWrong ? "WRONG" : "not run";
      row.note = verdict.summary;
      as_it_should_be = verdict.kind == Verdict::kCannotRunHere;
      found_.cannot_run |= as_it_should_be;
      show_progress("");
      std::fprintf(stderr, "%s: %s\n", step.name.c_str(), verdict.summary.c_str());
      for (const std::string& line : verdict.details) {
        std::fprintf(stderr, "  %s\n", line.c_str());
      }
    }
    if (row.time.measured() && previous) {
      row.before = time_before(step, *previous);
      row.before_alone = !previous->needs_ranks;
    }
  }
  show_progress("");
  print_row(row);
  found_.rows.push_back(row);
  return as_it_should_be;
}

void Climb::measure_cpu(const Step& strided) {
  for (const LadderRow& row : found_.rows) {
    if (row.time.measured() && row.step.n <= kMaxCpuN) found_.cpu[row.step.n] = {};
  }
  for (auto& [n, cpu] : found_.cpu) {
    show_progress(format("the best serial code at n = %d ...", n));
    for (int k = 0; k < kShortRuns; ++k) {
      // In a thread of its own: the next one may be given another core.
      const CpuTimes once = std::async(std::launch::async, time_best, n).get();
      if (faster(once.best, cpu.best)) cpu.best = once.best;
      if (faster(once.all_cores, cpu.all_cores)) cpu.all_cores = once.all_cores;
      cpu.threads = once.threads;
      if (once.best.median > kShortMs) break;
    }
    const LadderRow& first = found_.rows.front();
    // What is wrong has no time, and gets none here.
    if (first.step.name == strided.name && (first.step.n == n || !first.time.measured())) {
      cpu.strided = first.time;
      continue;
    }
    if (n > found_.max_strided_n) continue;
    // Strided code needs up to 50 ns per point.
    const int samples = static_cast<int>(kStridedSeconds / (50e-9 * n * n));
    cpu.strided = time(strided, n, 1 + std::clamp(samples, kStridedAtLeast, 100));
  }
  show_progress("");
}

}  // namespace validate
