#pragma once

// The tables of this folder, and what their functions lend each other.

#include "explain/looks/field_look.h"
#include "explain/mistake.h"

namespace validate {

extern const Family kFindingMistakes, kCallMistakes, kExchangeMistakes, kFailureMistakes,
    kHistoryMistakes, kStartMistakes, kRingMistakes, kPlaceMistakes, kBoundaryMistakes,
    kLeftOutMistakes, kFormulaMistakes, kSumMistakes, kPartMistakes, kEdgeMistakes, kRaceMistakes,
    kUpdateMistakes, kPassMistakes, kCycleMistakes;

/// Whether the wrong points of the interior keep a value that they had: left_out.cpp.
Answer kept_values(const FieldLook& look);

/// Threads that add to one sum in global memory, and not by an atomic: findings.cpp.
Answer lost_additions(const Evidence& evidence);

/// A copy, or a fill, of the four bytes of a float, if the sum is a double: sums.cpp.
Answer half_a_sum(const std::string& source, bool field_is_right);

}  // namespace validate
