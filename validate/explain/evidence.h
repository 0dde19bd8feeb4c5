#pragma once

// All that an entry of the catalogue can be held against.

#include <memory>
#include <string>

#include "explain/diagnosis.h"
#include "explain/looks/fields.h"
#include "explain/mistake.h"

namespace validate {

struct FieldLook;
struct SumLook;

class Evidence {
 public:
  Evidence(Subject subject, const Wrong& wrong, const Patient& patient, std::string error = "",
           const cuda_on_cpu::Report& report = {""});
  ~Evidence();
  Evidence(const Evidence&) = delete;
  Evidence& operator=(const Evidence&) = delete;

  /// The fields around the first wrong iteration; nullptr: the field is not wrong.
  const FieldLook* field() const {
    return subject == Subject::kRun && !right_once_more ? field_.get() : nullptr;
  }
  /// The residuals of a field that is right; nullptr: they are not wrong, or the field is.
  const SumLook* sum() const { return sum_.get(); }
  /// The same of a field that is wrong after a pass: the "first wrong iteration" is its last sweep.
  const FieldLook* pass() const { return subject == Subject::kPass ? field_.get() : nullptr; }
  /// What the run leaves after k iterations; nullptr: nothing.
  std::shared_ptr<const Observation> after(int k) const { return patient.ask(run_of(k)); }
  /// Whether another run, its threads in another order, gives another field after k iterations.
  bool field_changes(int k) const { return two_runs_differ(run_of(k), patient); }

  Subject subject;
  Wrong wrong;
  const Patient& patient;
  const Finding& finding = patient.finding;  ///< of a look at every access
  const std::string& source = patient.source;
  std::string error;           ///< of a run without a record
  cuda_on_cpu::Report report;  ///< what that run reported
  Words words{patient};
  bool stopped_early = false;    ///< though its residuals are numbers
  bool right_once_more = false;  ///< the field was wrong; asked once more it is right

 private:
  Case run_of(int iterations) const;

  std::unique_ptr<const FieldLook> field_;
  std::unique_ptr<const SumLook> sum_;
};

/// An entry's function, of one that needs one look alone.
template <auto look, auto ask>
Answer of_look(const Evidence& evidence) {
  const auto* at = (evidence.*look)();
  return at ? ask(*at) : Answer();
}
template <auto ask>
constexpr auto of_field = of_look<&Evidence::field, ask>;
template <auto ask>
constexpr auto of_pass = of_look<&Evidence::pass, ask>;
template <auto ask>
constexpr auto of_sum = of_look<&Evidence::sum, ask>;

/// What a look at every access found, as an answer; none if it found nothing.
Answer answer_of_finding(const Evidence& evidence);

}  // namespace validate
