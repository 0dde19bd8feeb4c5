#pragma once

// All that an entry of the catalogue can be held against.

#include <map>
#include <memory>
#include <string>

#include "explain/diagnosis.h"
#include "explain/looks/fields.h"
#include "explain/mistake.h"

namespace validate {

/// The program's answers, each asked for once.
class Interview {
 public:
  Interview(const Case& run, const Patient& patient) : run_(run), patient_(patient) {}
  /// After k iterations; nullptr: there is no answer.
  const Observation* after(int k);
  /// Whether another run, its threads in another order, gives another field after k iterations.
  bool field_changes(int k);

 private:
  struct Answered {
    bool known = false;
    Observation seen;
  };
  Case run_;
  const Patient& patient_;
  std::map<int, Answered> answers_;    // by the number of iterations
  std::map<int, bool> field_changes_;  // the same
};

struct FieldLook;
struct SumLook;
struct PassLook;

class Evidence {
 public:
  /// What is asked about.
  enum Subject {
    kRun,      ///< a wrong field, wrong residuals, or a loop that ended early
    kPass,     ///< several sweeps as one pass, each of which is right by itself
    kPassSum,  ///< the residuals of such passes, whatever each sweep is
    kBorders,  ///< a job of several ranks of which a single one is right
    kFailure,  ///< a run without a record
    kAccess,   ///< only what a look at every access found
  };
  Evidence(Subject subject, const Wrong& wrong, const Patient& patient, std::string error = "",
           const cuda_on_cpu::Report& report = {""});
  ~Evidence();
  Evidence(const Evidence&) = delete;
  Evidence& operator=(const Evidence&) = delete;

  /// The fields around the first wrong iteration; nullptr: the field is not wrong.
  const FieldLook* field() const;
  /// The residuals of a field that is right; nullptr: they are not wrong, or the field is.
  const SumLook* sum() const;
  /// A field that is wrong after a pass; nullptr: it is not.
  const PassLook* pass() const;

  bool says(const char* words) const { return error.find(words) != std::string::npos; }

  Subject subject;
  Wrong wrong;
  const Patient& patient;
  const Finding& finding;  ///< of a look at every access
  const std::string& source;
  int finding_n;               ///< of the run in which every access was looked at
  std::string error;           ///< of a run without a record
  cuda_on_cpu::Report report;  ///< what that run reported
  Words words;
  mutable Interview interview;
  bool stopped_early = false;            ///< though its residuals are numbers
  mutable bool right_once_more = false;  ///< the field was wrong; asked once more it is right

 private:
  template <typename Look>
  struct Lazy {
    bool made = false;
    std::unique_ptr<Look> look;
  };
  mutable Lazy<FieldLook> field_;
  mutable Lazy<SumLook> sum_;
  mutable Lazy<PassLook> pass_;
};

/// An entry's function, of one that needs one look alone.
template <Answer (*ask)(const FieldLook&)>
Answer of_field(const Evidence& evidence) {
  const FieldLook* look = evidence.field();
  return look ? ask(*look) : Answer();
}
template <Answer (*ask)(const SumLook&)>
Answer of_sum(const Evidence& evidence) {
  const SumLook* look = evidence.sum();
  return look ? ask(*look) : Answer();
}
template <Answer (*ask)(const PassLook&)>
Answer of_pass(const Evidence& evidence) {
  const PassLook* look = evidence.pass();
  return look ? ask(*look) : Answer();
}

/// What a look at every access found, as an answer; none if it found nothing.
Answer answer_of_finding(const Evidence& evidence);

}  // namespace validate
