#pragma once

// The tables of this folder, and what their functions lend each other.

#include "explain/looks/field_look.h"
#include "explain/mistake.h"

namespace validate {

extern const Family kFindingMistakes, kCallMistakes, kExchangeMistakes, kFailureMistakes,
    kHistoryMistakes, kStartMistakes, kRingMistakes, kPlaceMistakes, kBoundaryMistakes,
    kLeftOutMistakes, kFormulaMistakes, kSumMistakes, kPartMistakes, kBlockMistakes, kEdgeMistakes,
    kRaceMistakes, kUpdateMistakes, kPassMistakes, kCycleMistakes;

/// Whether the wrong points of the interior keep a value that they had: left_out.cpp.
Answer kept_values(const FieldLook& look);

/// Threads that add to one sum in global memory, and not by an atomic: findings.cpp.
Answer lost_additions(const Evidence& evidence);

// What the program's text shows: sources.cpp.

/// A copy, or a fill, of the four bytes of a float, if the sum is a double.
Answer half_a_sum(const Evidence& evidence);
/// A sum that is set to 0 after it is added to, and before it is copied to the host.
Answer order_of_sum(const Evidence& evidence);

}  // namespace validate
