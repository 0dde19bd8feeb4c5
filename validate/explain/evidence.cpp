#include "explain/evidence.h"

#include <algorithm>

#include "explain/looks/field_look.h"
#include "explain/looks/pass_look.h"
#include "explain/looks/sum_look.h"

namespace validate {

const Observation* Interview::after(int k) {
  const auto [at, is_new] = answers_.try_emplace(k);
  if (is_new) {
    Case run = run_;
    run.iterations = k;
    at->second.known = patient_.run(run, &at->second.seen) &&
                       at->second.seen.field.size() == static_cast<std::size_t>(run.n) * run.n;
  }
  return at->second.known ? &at->second.seen : nullptr;
}

bool Interview::field_changes(int k) {
  const auto [at, is_new] = field_changes_.try_emplace(k);
  Case run = run_;
  run.iterations = k;
  if (is_new) at->second = two_runs_differ(run, patient_);
  return at->second;
}

Evidence::Evidence(Subject what, const Wrong& seen, const Patient& asked, std::string said,
                   const cuda_on_cpu::Report& reported)
    : subject(what),
      wrong(seen),
      patient(asked),
      finding(asked.finding),
      source(asked.source),
      finding_n(asked.looked_at_n > 0 ? asked.looked_at_n : seen.run.n),
      error(std::move(said)),
      report(reported),
      words(asked),
      interview(seen.run, asked) {
  if (subject != kRun || wrong.made >= wrong.run.iterations) return;
  // A loop ends if the residual is not a number; that is a symptom.
  const Observation* last = interview.after(wrong.made);
  stopped_early = !last || last->residuals.empty() ||
                  std::none_of(last->residuals.begin(), last->residuals.end(),
                               [](const auto& r) { return std::isnan(r.value); });
  if (stopped_early) return;
  wrong.run.iterations = wrong.made;
  wrong.residual = true;
}

Evidence::~Evidence() = default;

const FieldLook* Evidence::field() const {
  if (!field_.made) {
    field_.made = true;
    if (subject == kRun && !stopped_early && wrong.field && wrong.first_iteration > 0 &&
        interview.after(wrong.first_iteration)) {
      field_.look = std::make_unique<FieldLook>(*this);
      right_once_more = field_.look->cells.count() == 0;
      if (right_once_more) field_.look.reset();
    }
  }
  return field_.look.get();
}

const SumLook* Evidence::sum() const {
  if (!sum_.made) {
    sum_.made = true;
    if (subject == kRun && !stopped_early && !wrong.field && wrong.residual) {
      sum_.look = std::make_unique<SumLook>(*this);
      if (sum_.look->sweeps.empty()) sum_.look.reset();
    }
  }
  return sum_.look.get();
}

const PassLook* Evidence::pass() const {
  if (!pass_.made) {
    pass_.made = true;
    if (subject == kPass && wrong.field && wrong.first_iteration > 0 &&
        interview.after(wrong.first_iteration)) {
      pass_.look = std::make_unique<PassLook>(*this);
    }
  }
  return pass_.look.get();
}

}  // namespace validate
