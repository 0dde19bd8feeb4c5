#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "explain/diagnosis.h"
#include "judge/trials.h"
#include "run/program_run.h"

namespace validate {

/// What is known of the program, and helps to find a cause; "": it is not at hand.
struct AtHand {
  std::string source;   ///< the program's text, for the words to fit it
  std::string watched;  ///< the same program on the CPU, with every access looked at (lab/cpu)
  bool gpu = false;     ///< the program runs on a GPU, whose start takes CPU time
};

/// Told before each run, with a short description of it.
using Progress = std::function<void(const std::string&)>;

/// For runs that are not reported.
inline void quietly(const std::string&) {}

/// What all runs of a check have in common.
struct Check {
  const std::string& program;
  const std::string folder;  ///< for what is temporary
  const double time_limit;   ///< seconds, of a run
  const Progress& progress;
  const AtHand& at_hand;
  const std::atomic<bool>* decided = nullptr;  ///< once it is true, no question is asked
  const std::string dir = folder + "/record";
};

/// The program as one to ask questions, as long as `check` lives. `step`: the name that a record of
/// it says. It is asked as the same job as `job`.
Patient patient_of(const Check& check, const std::string& step, const Case& job);

/// A short run in which every access is looked at, and how it went.
struct WatchedRun {
  Case run;
  Run trial;
};

/// The first run. If it is still going on after a time in which most programs have ended, a look at
/// a much shorter one tells whether it ever will: then it is slow, and gets all the time there is.
/// (Ranks that wait for one another say so themselves.) One that becomes `unwanted` is ended.
Trial try_first(const Check& check, const Case& run, const std::atomic<bool>* unwanted,
                std::optional<WatchedRun>* look);

/// Why a run is wrong: what to print, and which entry of the catalogue of mistakes that is.
struct Explanation {
  std::vector<std::string> lines;
  std::string rule = {};  ///< "": none fits
};

/// Another order of additions shows wherever values are not 0, with each sweep by itself as well.
/// What is wrong where only a few points differ, and none with --check-every 1; else no lines.
Explanation too_few_to_be_rounding(Case run, const FieldComparison& compared,
                                   const Patient& patient);

/// Of a run that failed: why. A GPU does not say which line is to blame; the same program on the
/// CPU, with every access looked at, does. `look`: if somebody has looked already.
Explanation explain_failure(const Check& check, const Case& run, const Run& trial,
                            std::optional<WatchedRun> look, Patient* patient);

/// Of a run whose field or residuals are wrong, or that stopped early: the cause, as far as it can
/// be found, and what is wrong.
Explanation explain_wrong(const Check& check, const Case& run, Trial* trial, Patient* patient);

}  // namespace validate
