#pragma once

#include <array>
#include <string>
#include <vector>

#include "goals/measures.h"

namespace validate {

/// Whether one of a step's goals is reached.
struct GoalResult {
  enum Kind { kReached, kMissed, kNotMeasurable };
  Kind kind = kNotMeasurable;
  std::string goal;    ///< what was to be reached: "at most one atomic addition per block"
  std::string found;   ///< what was measured, or what it would need
  std::string advice;  ///< what to do where it is missed
};

/// The result of one goal: `measure` may throw NotMeasurable.
GoalResult measure_goal(const char* goal, const char* advice,
                        const std::function<Measured()>& measure);

/// Prints them, and says how many are of each kind.
std::array<int, 3> print_goals(const std::vector<GoalResult>& results);

/// Measures the goals of step `number`, in the order of the table in goals.cpp. Empty: it has none.
std::vector<GoalResult> measure_goals(int number, Bench* bench);

}  // namespace validate
