#include "judge/trials.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <cuda_on_cpu/machine.h>
#include <lab/problem.h>
#include <lab/run.h>

#include "run/record.h"
#include "source/source_code.h"

namespace validate {
namespace {

/// What of a run that has ended is compared. If its hashes differ, trial->run becomes one that
/// records the whole field.
void compare(const std::string& program, const Case& run, const std::string& dir,
             const TimeLimit& time_limit, const std::atomic<bool>* unwanted, const Expected& right,
             Trial* trial) {
  const Record& record = trial->run.record;
  if (static_cast<int>(right.residuals.size()) < run.iterations) return;  // unwanted by now
  trial->residuals = compare_residuals(right.residuals, record.residuals, run.n);
  const bool hashed = run.n >= kHashedRecordN, stopped_early = record.iterations < run.iterations;
  if (stopped_early && (hashed || record.iterations == 0)) return;
  if (hashed) {
    std::string rows;
    read_text(dir + "/rows.csv", &rows);
    if (rows == lab::rows_csv(right.reference.row_hashes())) return;
    const Run again = run_program(program, run, dir, time_limit, unwanted);
    if (!again.machine.empty()) {
      trial->error = "rows of its field are wrong; which points cannot be said: " + again.machine;
      return;
    }
    trial->run = again;
    if (!trial->run.error.empty()) return;
    trial->residuals = compare_residuals(right.residuals, record.residuals, run.n);
  }
  std::vector<float> field;
  if (!read_field(dir, run.n, &field, &trial->error)) return;
  trial->field = stopped_early ? compare_with_right(run, record.iterations, field)
                               : compare_field(right.reference, run.iterations, field);
}

std::size_t trials_at_a_time() { return std::clamp(cuda_on_cpu::usable_cores() / 2, 3, 12); }

}  // namespace

Expected expected_of(const Case& run, int iterations, const std::atomic<bool>* unwanted) {
  Expected all{Reference(lab::Problem(run.problem, run.n)), {}};
  for (int k = 0; k < iterations && !(unwanted && *unwanted); ++k) {
    all.residuals.push_back(all.reference.sweep());
  }
  return all;
}

FieldComparison compare_with_right(const Case& run, int iterations,
                                   const std::vector<float>& field) {
  return compare_field(expected_of(run, iterations).reference, iterations, field);
}

Trial try_case(const std::string& program, const Case& run, const std::string& dir,
               const TimeLimit& time_limit, const std::atomic<bool>* unwanted) {
  Trial trial;
  const bool large = run.n >= kHashedRecordN;
  // Of a large grid the reference takes as long as the program: both at a time.
  auto right = std::async(large ? std::launch::async : std::launch::deferred, expected_of, run,
                          run.iterations, unwanted);
  Case recorded = run;
  if (large) recorded.field = lab::FieldRecord::kRows;
  trial.run = run_program(program, recorded, dir, time_limit, unwanted);
  if (trial.run.error.empty()) {
    compare(program, run, dir, time_limit, unwanted, right.get(), &trial);
  }
  std::error_code ignored;
  std::filesystem::remove_all(dir, ignored);
  return trial;
}

Trials::Trials(const std::string& program, const std::vector<Case>& cases, double cpu_seconds,
               const std::string& folder, double time_limit, std::atomic<bool>* unwanted)
    : program_(program),
      folder_(folder),
      cases_(cases),
      time_limit_(time_limit),
      unwanted_(unwanted),
      trials_(cases.size()),
      largest_(cases[0]),
      cpu_seconds_(cpu_seconds) {
  // Of a grid so large the reference takes seconds, beside the other trials.
  const std::size_t last = cases_.size() - 1;
  if (last > 0 && cases_[last].n >= kHashedRecordN) begin(last);
}

/// A learner waits for the verdict: what computes far longer than the largest grid so far lets
/// expect, by the number of points that are swept, is not waited for up to the time limit.
TimeLimit Trials::limit_of(const Case& run) const {
  constexpr double kFar = 10, kAtLeast = 5;
  const auto sweeps = [](const Case& c) { return 1.0 * c.n * c.n * c.iterations; };
  const double expected = cpu_seconds_ * std::max(1.0, sweeps(run) / sweeps(largest_));
  return {time_limit_, kAtLeast + kFar * expected};
}

void Trials::begin(std::size_t k) {
  if (trials_[k].valid()) return;
  const std::string dir = folder_ + "/trial" + std::to_string(k);
  const TimeLimit limit = limit_of(cases_[k]);
  trials_[k] = std::async(std::launch::async, [this, k, dir, limit] {
    return try_case(program_, cases_[k], dir, limit, unwanted_);
  });
}

Trial Trials::get(std::size_t k) {
  while (next_ < std::min(cases_.size(), k + trials_at_a_time())) begin(next_++);
  Trial trial = trials_[k].get();
  if (cases_[k].n >= largest_.n) {
    largest_ = cases_[k];
    cpu_seconds_ = trial.run.child.cpu_seconds;
  }
  return trial;
}

void Trials::stop() {
  *unwanted_ = true;
  trials_.clear();
}

}  // namespace validate
