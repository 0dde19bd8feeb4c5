#include "explain/evidence.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "explain/looks/field_look.h"
#include "explain/looks/sum_look.h"
#include "judge/trials.h"

namespace validate {

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

Cells wrong_cells(const Case& run, const std::vector<float>& field) {
  const Field right = field_of(expected_of(run, run.iterations).reference);
  return differing(right, field, run.n, run.iterations);
}

Evidence::Evidence(Subject what, const Wrong& seen, const Patient& asked, std::string said,
                   const cuda_on_cpu::Report& reported)
    : subject(what), wrong(seen), patient(asked), error(std::move(said)), report(reported) {
  if (subject == Subject::kRun && wrong.made < wrong.run.iterations) {
    // A loop ends if the residual is not a number, here or in another run: that is a symptom.
    const auto last = after(wrong.made);
    stopped_early = !wrong.no_number &&
                    (!last || std::none_of(last->residuals.begin(), last->residuals.end(),
                                           [](const auto& r) { return std::isnan(r.value); }));
    if (stopped_early) return;
    wrong.run.iterations = wrong.made;
    wrong.residual = true;
  }
  if (subject != Subject::kRun && subject != Subject::kPass) return;
  if (wrong.field && wrong.first_iteration > 0 && after(wrong.first_iteration)) {
    field_ = std::make_unique<FieldLook>(*this);
    right_once_more = subject == Subject::kRun && field_->cells.count() == 0;
  }
  if (subject == Subject::kRun && !wrong.field && wrong.residual) {
    sum_ = std::make_unique<SumLook>(*this);
    if (sum_->sweeps.empty()) sum_.reset();
  }
}

Evidence::~Evidence() = default;

Case Evidence::run_of(int iterations) const {
  Case run = wrong.run;
  run.iterations = iterations;
  return run;
}

}  // namespace validate
