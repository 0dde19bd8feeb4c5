#pragma once

#include <functional>

#include "goals/measures.h"

namespace validate {

/// How many goals are reached, missed, and not measurable here.
struct GoalCount {
  int reached = 0, missed = 0, not_measurable = 0;

  /// Measures a goal, prints how it stands, and counts it. `measure` may throw NotMeasurable.
  void tell(const char* goal, const char* advice, const std::function<Measured()>& measure);
};

/// Measures the goals of step `number`, in the order of the table in goals.cpp, and prints them.
GoalCount measure_goals(int number, Bench* bench);

}  // namespace validate
