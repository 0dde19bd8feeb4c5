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
  explicit FieldLook(const Evidence& all)
      : evidence(all),
        words(all.words),
        n(all.wrong.run.n),
        first(all.wrong.first_iteration),
        problem(all.wrong.run.problem, n, 1),
        start_old(field_of(problem.initial_old(), n)),
        start_new(field_of(problem.initial_new(), n)),
        sweeps(n, start_old),
        before(sweeps.after(first - 1)),
        hidden(first == 1 ? start_new : sweeps.after(first - 2)),
        expected(sweeps.after(first)),
        seen(all.after(first)),
        found(seen->field),
        near(largest_of(expected), first),
        cells(differing(expected, found, n, first)),
        inside(cells.interior()),
        ring(cells.boundary()),
        pattern(find_pattern(inside)) {}

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
  const Words& words;
  int n, first;
  lab::Problem problem;
  Field start_old, start_new;
  mutable Sweeps sweeps;
  const Field& before;  ///< what the first wrong sweep read
  Field hidden;         ///< what the field that it wrote held before
  const Field& expected;
  std::shared_ptr<const Observation> seen;
  const Field& found;
  Near near;
  Cells cells, inside, ring;  ///< the wrong points: all, and the two parts
  Pattern pattern;            ///< of `inside`
};

/// The boundary's sides with wrong points: "the boundary's row j = 0". Sets how many they are.
std::string sides_of(const FieldLook& look, int* count);

/// What the wrong points became, if all of them are one sum of their neighbours: "0.25 (east +
/// north)"; "" otherwise.
std::string fitted(const FieldLook& look);

}  // namespace validate
