#include "explain/evidence.h"

#include <algorithm>

#include "explain/looks/field_look.h"
#include "explain/looks/sum_look.h"

namespace validate {

Evidence::Evidence(Subject what, const Wrong& seen, const Patient& asked, std::string said,
                   const cuda_on_cpu::Report& reported)
    : subject(what),
      wrong(seen),
      patient(asked),
      finding(asked.finding),
      source(asked.source),
      error(std::move(said)),
      report(reported),
      words(asked) {
  if (subject == Subject::kRun && wrong.made < wrong.run.iterations) {
    // A loop ends if the residual is not a number; that is a symptom.
    const auto last = after(wrong.made);
    stopped_early = !last || last->residuals.empty() ||
                    std::none_of(last->residuals.begin(), last->residuals.end(),
                                 [](const auto& r) { return std::isnan(r.value); });
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
