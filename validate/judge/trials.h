#pragma once

#include <atomic>
#include <cstddef>
#include <future>
#include <string>
#include <vector>

#include "judge/compare.h"
#include "reference/reference.h"
#include "run/program_run.h"

namespace validate {

/// From this n on a record holds row hashes, which are written and read faster than the field. If
/// they differ, the program runs once more for the field itself.
inline constexpr int kHashedRecordN = 4096;

/// A run and, if it left a record, its residuals and field, each compared with the reference's.
struct Trial {
  Run run;
  ResidualComparison residuals;
  FieldComparison field;
  std::string error;  ///< not empty: the field could not be read
};

/// The reference after some sweeps, and their residuals.
struct Expected {
  Reference reference;
  std::vector<double> residuals;
};

/// What `iterations` sweeps of the case's problem should give. If that becomes `unwanted`, it ends
/// early, and its result means nothing.
Expected expected_of(const Case& run, int iterations, const std::atomic<bool>* unwanted = nullptr);

/// The field that a run left, compared with the right one after as many iterations.
FieldComparison compare_with_right(const Case& run, int iterations,
                                   const std::vector<float>& field);

/// Runs the program with a record in `dir`, which is gone afterwards, and compares. A trial that
/// becomes `unwanted` is ended early; its result means nothing then.
Trial try_case(const std::string& program, const Case& run, const std::string& dir,
               const TimeLimit& time_limit, const std::atomic<bool>* unwanted = nullptr);

/// Trials of one program, several at a time, begun in their order but for the largest grid.
class Trials {
 public:
  /// The first of `cases` has been run, and used `cpu_seconds`. `folder`: for the records of the
  /// others. Once `unwanted`, none is run any more; what get() returns means nothing then.
  Trials(const std::string& program, const std::vector<Case>& cases, double cpu_seconds,
         const std::string& folder, double time_limit, std::atomic<bool>* unwanted);
  /// Ends those that still run.
  ~Trials() { stop(); }
  Trials(const Trials&) = delete;
  Trials& operator=(const Trials&) = delete;

  /// Waits for the trial of cases[k], and begins those that come next; from k = 1 on, one after the
  /// other. Throws what the trial throws.
  Trial get(std::size_t k);

  /// They are unwanted. Waits until those that run are ended.
  void stop();

 private:
  void begin(std::size_t k);
  TimeLimit limit_of(const Case& run) const;

  const std::string program_, folder_;
  const std::vector<Case> cases_;
  const double time_limit_;
  std::atomic<bool>* const unwanted_;
  std::vector<std::future<Trial>> trials_;  ///< of all cases; that of the first is not used
  std::size_t next_ = 1;                    ///< the case to begin next
  Case largest_;                            ///< of those that have been waited for
  double cpu_seconds_;                      ///< that it used
};

}  // namespace validate
