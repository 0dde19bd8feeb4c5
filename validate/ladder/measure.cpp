#include "ladder/measure.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include <unistd.h>

#include <lab/problem.h>

#include "judge/reference.h"
#include "ladder/table.h"
#include "run/program_run.h"
#include "run/temporary_folder.h"
#include "run/text.h"

namespace validate {
namespace {

constexpr int kSerialSamples = 11;
constexpr double kSerialSeconds = 10;  // a serial code is timed no longer than this, nor
constexpr int kSerialAtLeast = 4;      // less often than this (the first one warms up)
constexpr int kMaxSerialN = 16384;     // beyond it serial codes take minutes, and nobody times them

Timing summarize(std::vector<double> times) {
  if (times.empty()) return {};
  std::sort(times.begin(), times.end());
  const std::size_t last = times.size() - 1;
  return {times[times.size() / 2], times[last / 4], times[last - last / 4],
          static_cast<int>(times.size())};
}

/// Runs a step's program for its times alone; `ranks`: of the job as which it is started, or 0.
Timing time_program(const std::string& program, int n, int iterations, int ranks,
                    double time_limit) {
  const TemporaryFolder folder;
  Case timed{lab::ProblemKind::kLaplace, n, iterations};
  timed.ranks = ranks;
  const Run run = run_program(program, timed, true, folder.path() + "/record", time_limit);
  if (!run.error.empty() || run.child.exit_code != 0) return {};
  return {run.record.median_ms, run.record.q1_ms, run.record.q3_ms, run.record.samples};
}

/// The best serial code that the lab has: the reference on one thread. Rows in order, two fields
/// that change roles in place of a copy, vector instructions, -O3.
Timing time_best_serial(int n) {
  using Clock = std::chrono::steady_clock;
  Reference reference(lab::Problem(lab::ProblemKind::kLaplace, n, 1), 1);
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

}  // namespace

void show_progress(const std::string& what) {
  if (isatty(STDERR_FILENO)) std::fprintf(stderr, "\r\033[K%s", what.c_str());
}

Timing Climb::time(const Step& step, int n, int iterations) const {
  show_progress(format("%s: timing, n = %d, %d iterations", step.name.c_str(), n, iterations));
  return time_program(program_of(step), n, iterations, ranks_of(step), options_.time_limit);
}

Verdict Climb::check(const Step& step, bool own_n) const {
  // A step for several GPUs has to be right with two ranks, and at the n that is timed with as many
  // as it is timed with. `make check` and the tests try more.
  std::vector<Case> cases = usual_cases();
  if (step.needs_ranks) cases = with_ranks(cases, {kCheckedRanks});
  Extent extent;
  extent.sizes = true;
  extent.own_n = own_n ? step.n : 0;
  extent.own_ranks = ranks_of(step);
  return check_program(
      program_of(step), cases, options_.time_limit,
      [&](const std::string& what) { show_progress(step.name + ": validating, " + what); }, {},
      extent);
}

/// The step before, at this step's n, as it is timed itself; nothing where it is not right.
Timing Climb::time_before(const Step& step, const Step& previous) const {
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
    const bool timed = !in_place_of_gpu(step);
    const Verdict verdict = check(step, timed);
    if (verdict.kind == Verdict::kRight) {
      row.verdict = "right";
      if (timed) row.time = time(step, step.n, step.iterations);
      as_it_should_be = !timed || row.time.measured();
      if (timed) row.ranks = ranks_of(step);
      if (!row.time.measured()) {
        row.note = timed ? "could not be timed" : "on the CPU";
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

void Climb::measure_serial(const Step& strided) {
  for (const LadderRow& row : found_.rows) {
    if (row.time.measured() && row.step.n <= kMaxSerialN) found_.serial[row.step.n] = {};
  }
  for (auto& [n, serial] : found_.serial) {
    show_progress(format("the serial code at n = %d ...", n));
    serial.best = time_best_serial(n);
    const LadderRow& first = found_.rows.front();
    // What is wrong has no time, and gets none here.
    if (first.step.name == strided.name && (first.step.n == n || !first.time.measured())) {
      serial.strided = first.time;
      continue;
    }
    // Strided code needs up to 50 ns a point.
    const int samples = static_cast<int>(kSerialSeconds / (50e-9 * n * n));
    serial.strided = time(strided, n, 1 + std::max(kSerialAtLeast, std::min(samples, 100)));
  }
  show_progress("");
}

}  // namespace validate
