#include "explain/diagnosis.h"

#include <cstring>

#include "explain/evidence.h"

namespace validate {
namespace {

/// The words of an answer, and of what is told with it.
Diagnosis tell(const Answer& answer, const Evidence& evidence) {
  Diagnosis diagnosis;
  if (!answer.known()) return diagnosis;
  const Mistake& entry = *find_mistake(answer.rule);
  diagnosis.answer = answer;
  diagnosis.strength = answer.strength ? *answer.strength : entry.strength;
  diagnosis.cause = fill(entry.words, answer, evidence);
  for (const std::string& where : entry.look_at) {
    std::string line = fill(where, answer, evidence);
    if (!line.empty()) diagnosis.look_at.push_back(std::move(line));
  }
  return diagnosis;
}

Diagnosis ask_and_tell(const Evidence& evidence) { return tell(ask_all(evidence), evidence); }

}  // namespace

std::vector<std::string> Diagnosis::lines() const {
  std::vector<std::string> lines;
  if (!known()) return lines;
  lines.push_back("diagnosis: " + (lead.empty() || is_finding() ? "" : lead + ". ") + cause +
                  (seen_in.empty() || is_finding() ? "" : " (as seen in: " + seen_in + ")"));
  for (const std::string& where : look_at) lines.push_back("look at: " + where);
  return lines;
}

Cells wrong_cells(const Case& run, const std::vector<float>& field) {
  Reference reference(lab::Problem(run.problem, run.n, 1));
  for (int k = 0; k < run.iterations; ++k) reference.sweep();
  return differing(field_of(reference), field, run.n, run.iterations);
}

std::shared_ptr<const Observation> Patient::ask(const Case& asked, bool again) const {
  const std::string question = (again ? "again " : "") + describe(asked);
  if (const auto at = answers_->find(question); at != answers_->end()) return at->second;
  auto seen = std::make_shared<Observation>();
  if (!run(asked, again, seen.get())) seen.reset();
  if (asked.n <= kMaxDiagnosedN) (*answers_)[question] = seen;  // larger ones take too much memory
  return seen;
}

bool two_runs_differ(const Case& run, const Patient& patient) {
  const auto one = patient.ask(run), other = patient.ask(run, true);
  return one && other && one->field.size() == other->field.size() &&
         std::memcmp(one->field.data(), other->field.data(), one->field.size() * sizeof(float)) !=
             0;
}

Diagnosis diagnose(const Wrong& wrong, const Patient& patient, Subject about) {
  if (about == Subject::kPassSum && (wrong.field || !wrong.residual)) return {};
  Diagnosis diagnosis = ask_and_tell(Evidence(about, wrong, patient));
  if (about == Subject::kPass) {
    diagnosis.lead =
        "with --check-every 1 all is right: each sweep is correct, and so is each residual";
  }
  return diagnosis;
}

Diagnosis diagnose_failure(const Case& run, int made, const std::string& error,
                           const Patient& patient, const cuda_on_cpu::Report& report) {
  Wrong wrong;
  wrong.run = run;
  wrong.made = made;
  return ask_and_tell(Evidence(Subject::kFailure, wrong, patient, error, report));
}

Diagnosis say(const Answer& answer, const Case& run, const Patient& patient) {
  Wrong wrong;
  wrong.run = run;
  return tell(answer, Evidence(Subject::kAccess, wrong, patient));
}

}  // namespace validate
