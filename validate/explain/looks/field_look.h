#pragma once

#include <cmath>
#include <cstddef>
#include <string>

#include <lab/problem.h>

#include "explain/evidence.h"
#include "explain/looks/cells.h"
#include "explain/looks/fields.h"

namespace validate {

/// All that a hypothesis on a wrong field is held against: the fields around the first wrong
/// iteration.
struct FieldLook {
  explicit FieldLook(const Evidence& all) : evidence(all) {}

  float at(const Field& field, int i, int j) const {
    return field[static_cast<std::size_t>(j) * n + i];
  }
  bool has(unsigned traits) const { return words.has(traits); }
  std::shared_ptr<const Observation> after(int k) const { return evidence.after(k); }
  /// Only the interior is wrong.
  bool interior_only() const { return inside.count() > 0 && ring.count() == 0; }
  /// No two points are alike: values that many points share would fit anything.
  bool points_differ() const { return problem.kind() == lab::ProblemKind::kProbe; }
  /// The residual that the program said of iteration k; NaN: it said none.
  double said(int k) const {
    const auto run = after(k);
    if (!run) return NAN;
    for (const Record::Residual& r : run->residuals) {
      if (r.iteration == k) return r.value;
    }
    return NAN;
  }
  /// Whether a run of no iteration hands over the right starting values. false: others, or nothing.
  bool starts_right() const {
    const auto none = after(0);
    return none && none->iterations == 0 && agree(start_old, none->field, n, 0);
  }
  bool residual_is_right(int k) const { return same_residual(said(k), sweeps.residual(k)); }
  template <typename Test>
  bool all_of(const Cells& some, Test test) const {
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        if (some.has(i, j) && !test(i, j)) return false;
      }
    }
    return true;
  }
  Cells interior() const {
    return Cells::where(n, [this](int i, int j) { return !cells.is_boundary(i, j); });
  }

  const Evidence& evidence;
  const Words& words = evidence.words;
  const int n = evidence.wrong.run.n, first = evidence.wrong.first_iteration;
  const lab::Problem problem{evidence.wrong.run.problem, n};
  const Field start_old = field_of(problem.initial_old(), n);
  const Field start_new = field_of(problem.initial_new(), n);
  mutable Sweeps sweeps{n, start_old};
  const Field& before = sweeps.after(first - 1);  ///< what the first wrong sweep read
  /// What the field that it wrote held before.
  const Field hidden = first == 1 ? start_new : sweeps.after(first - 2);
  const Field& expected = sweeps.after(first);
  const std::shared_ptr<const Observation> seen = evidence.after(first);
  const Field& found = seen->field;
  const Near near{largest_of(expected), first};
  const Cells cells = differing(expected, found, n, first);  ///< the wrong points
  const Cells inside = cells.interior(), ring = cells.boundary();
  const Pattern pattern = find_pattern(inside);
};

/// The boundary's sides with wrong points: "the boundary's row j = 0". Sets how many they are.
std::string sides_of(const FieldLook& look, int* count);

/// What the wrong points became, if all of them are one sum of their neighbours: "0.25 (east +
/// north)"; "" otherwise.
std::string fitted(const FieldLook& look);

}  // namespace validate
