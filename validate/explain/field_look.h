#pragma once

// What the questions about a wrong field share; others include diagnosis.h.

#include <cmath>
#include <cstddef>
#include <string>

#include <lab/problem.h>

#include "explain/cells.h"
#include "explain/diagnosis_parts.h"

namespace validate {

/// All that a hypothesis is held against: the fields around the first wrong iteration.
struct FieldLook {
  FieldLook(const Wrong& what, Interview* asked)
      : wrong(what),
        interview(*asked),
        words(asked->patient()),
        n(what.run.n),
        first(what.first_iteration),
        problem(what.run.problem, what.run.n, 1),
        start_old(field_of(problem.initial_old(), n)),
        start_new(field_of(problem.initial_new(), n)),
        sweeps(n, start_old),
        before(sweeps.after(first - 1)),
        hidden(first == 1 ? start_new : sweeps.after(first - 2)),
        expected(sweeps.after(first)),
        found(asked->after(first)->field),
        near(largest_of(expected), first),
        cells(differing(expected, found, n, first)),
        inside(cells.interior()),
        ring(cells.boundary()),
        pattern(find_pattern(inside)) {}

  float at(const Field& field, int i, int j) const {
    return field[static_cast<std::size_t>(j) * n + i];
  }
  /// The residual that the program said of iteration k; NaN where it said none.
  double said(int k) const {
    const Observation* seen = interview.after(k);
    if (!seen) return NAN;
    for (const Record::Residual& r : seen->residuals) {
      if (r.iteration == k) return r.value;
    }
    return NAN;
  }
  bool residual_is_right(int k) const {
    return std::fabs(said(k) - sweeps.residual(k)) <= 1e-6 * sweeps.residual(k);
  }
  template <typename Test>
  bool all_of(const Cells& some, Test test) const {
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        if (some.has(i, j) && !test(i, j)) return false;
      }
    }
    return true;
  }

  Wrong wrong;
  Interview& interview;
  Words words;
  int n, first;
  lab::Problem problem;
  Field start_old, start_new;
  mutable Sweeps sweeps;
  const Field& before;  ///< what the first wrong sweep read
  Field hidden;         ///< what the field that it wrote held before
  const Field &expected, &found;
  Near near;
  Cells cells, inside, ring;  ///< the wrong points: all, and the two parts
  Pattern pattern;            ///< of `inside`
};

/// The boundary's sides with wrong points: "the boundary's row j = 0". Sets how many they are.
std::string sides_of(const FieldLook& look, int* count);

/// What to look at where no sweep was made.
std::string never_launched(const FieldLook& look);

// Causes that predict the whole field, iteration after iteration: story_diagnosis.cpp.
Diagnosis ask_for_story(const FieldLook& look);
Diagnosis ask_about_the_start(const FieldLook& look);
Diagnosis ask_whether_set_back(const FieldLook& look);

// Questions about how a point is computed, everywhere or at some edges: update_diagnosis.cpp.
Diagnosis ask_about_added_values(const FieldLook& look);
Diagnosis ask_for_fit(const FieldLook& look);
Diagnosis ask_for_fit_inside_blocks(const FieldLook& look);
Diagnosis ask_for_mix(const FieldLook& look);
Diagnosis ask_about_lanes(const FieldLook& look);
Diagnosis ask_about_other_n(const FieldLook& look);
Diagnosis ask_about_edges(const FieldLook& look);
Diagnosis ask_for_fit_where_wrong(const FieldLook& look);

// Questions about values that are right and stand in wrong places: place_diagnosis.cpp.
Diagnosis ask_about_unfinished_copy(const FieldLook& look);
Diagnosis ask_about_pitch(const FieldLook& look);
Diagnosis ask_about_shared_places(const FieldLook& look);
Diagnosis ask_about_width(const FieldLook& look);
Diagnosis ask_about_repeated_rows(const FieldLook& look);
Diagnosis ask_about_other_places(const FieldLook& look);
Diagnosis ask_about_one_value(const FieldLook& look);
Diagnosis ask_about_missing_starts(const FieldLook& look);
Diagnosis ask_about_shift_of_blocks(const FieldLook& look);
Diagnosis ask_about_lines_taken(const FieldLook& look);
Diagnosis ask_beside_the_boundary(const FieldLook& look);

}  // namespace validate
