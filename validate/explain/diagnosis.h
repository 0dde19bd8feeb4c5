#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "explain/finding.h"
#include "explain/looks/cells.h"
#include "explain/mistake.h"
#include "run/program_run.h"
#include "run/record.h"

namespace validate {

/// What a run of a program left behind.
struct Observation : Record {
  std::vector<float> field;  ///< after the last iteration: n x n, row j outer
};

/// A program to be asked questions: each is a run of it.
struct Patient {
  int step = -1;                ///< 9 for 09_shared_tile; -1: not known
  std::set<std::string> names;  ///< that its source holds; none: the source is not at hand
  /// Returns false if the run leaves nothing to look at. `again`: once more, with the threads in
  /// another order if that can be chosen.
  std::function<bool(const Case&, bool again, Observation*)> run;
  /// What `run` leaves, nullptr if that is nothing. What was asked before is not asked again: on a
  /// GPU each run takes half a second to begin.
  std::shared_ptr<const Observation> ask(const Case& asked, bool again = false) const;
  std::string source;    ///< its text; "": not at hand
  bool watched = false;  ///< every access was looked at
  Finding finding = {};  ///< what was found then

 private:
  using Answers = std::map<std::string, std::shared_ptr<const Observation>>;
  std::shared_ptr<Answers> answers_ = std::make_shared<Answers>();  // copies share it
};

/// What is wrong, in a learner's words.
struct Diagnosis {
  Answer answer = {};                ///< which entry of the catalogue it is, and its data
  std::string cause = {};            ///< empty: no cause is known that fits
  std::vector<std::string> look_at;  ///< what to look at in the learner's file
  Strength strength = Strength::kSymptom;
  std::string lead = {};     ///< what is right, told before the cause; may be empty
  std::string seen_in = {};  ///< the run in which the cause shows, if another than the one told of

  bool known() const { return !cause.empty(); }
  std::string rule() const { return answer.known() ? answer.rule : ""; }
  bool is_symptom() const { return strength == Strength::kSymptom; }
  /// What a look at every access found: a matter of no run in particular.
  bool is_finding() const { return answer.has("finding"); }
  /// The lines to print.
  std::vector<std::string> lines() const;
};

/// A case in which the program's field or residual is wrong.
struct Wrong {
  Case run;
  int made = 0;             ///< iterations that it made
  bool field = false;       ///< the field is wrong
  int first_iteration = 0;  ///< the first after which it is; 0: not known
  bool residual = false;    ///< the residual is wrong
  bool no_number = false;   ///< a residual is not a number, which ends a loop
};

/// What is asked about.
enum class Subject {
  kRun,      ///< a wrong field, wrong residuals, or a loop that ended early
  kPass,     ///< several sweeps as one pass, each of which is right by itself: always known
  kPassSum,  ///< the residuals of such passes, whatever each sweep is
  kBorders,  ///< a job of several ranks of which a single one is right: the rows next to others'
  kFailure,  ///< a run without a record
  kAccess,   ///< only what a look at every access found
};

/// Names the cause, if one is known that gives exactly what was found. A cause is held against the
/// numbers themselves, not against their looks: it predicts the field or the sum, and the
/// prediction must be what the program found, but for rounding. If two causes predict the same,
/// both are named.
Diagnosis diagnose(const Wrong& wrong, const Patient& patient, Subject about = Subject::kRun);

/// Names the cause of a run without a record: `run` is what was asked for, `made` how many
/// iterations it made (0: not known), `report` what the program said of its end.
Diagnosis diagnose_failure(const Case& run, int made, const std::string& error,
                           const Patient& patient, const cuda_on_cpu::Report& report = {""});

/// Words of an entry of the catalogue that no evidence is asked for.
Diagnosis say(const Answer& answer, const Case& run, const Patient& patient);

/// Whether two runs of the program give fields of different bits.
bool two_runs_differ(const Case& run, const Patient& patient);

/// Where a field is wrong: for a picture.
Cells wrong_cells(const Case& run, const std::vector<float>& field);

/// The grids whose whole fields the diagnosis looks at: it holds a dozen of them, and in a small
/// one too little can be seen.
inline constexpr int kMinDiagnosedN = 32;
inline constexpr int kMaxDiagnosedN = 1100;

}  // namespace validate
