// Cycles over several grids: what explain/cycles.cpp finds in the errors that they leave.

#include "explain/mistakes/families.h"

namespace validate {
namespace {

/// Found by diagnose_cycles and diagnose_cycle_sum, which have seen what no single run shows.
Answer of_cycles(const Evidence&) { return {}; }

}  // namespace

// clang-format off
const Family kCycleMistakes = {
    {"cycle_changes_the_boundary", Strength::kShape, kAnyProgram, of_cycles,
     "a cycle changes the boundary, whose values are given: point ({i}, {j}) is the first",
     {"the points that the correction is added to: 1 to n - 2 on both axes; and whether corrections are 0 on the "
      "boundary of every level"}},
    {"second_cycle_changes_nothing", Strength::kShape, kAnyProgram, of_cycles,
     "the second cycle leaves the field as the first one left it",
     {"whether the correction is added to the field that is written in the end, in every cycle"}},
    {"cycle_right_for_odd_n_alone", Strength::kShape, kAnyProgram, of_cycles,
     "for odd n it is right, and for even n wrong. For odd n each coarse point stands on a fine one; for even n it "
     "stands between two, as the coarser grid has n / 2 + 1 points over the same square",
     {"where a point stands in the other grid: at i * (m - 1) / (n - 1), with weights from that place; not at 2 * i "
      "or i / 2", "the last coarse points: for even n up to four fine points a side give their shares to one of them"}},
    {"cycle_right_for_even_n_alone", Strength::kShape, kAnyProgram, of_cycles,
     "for even n it is right, and for odd n wrong",
     {"the last points of each level: a place that is a whole number has the whole weight, and the point beyond it "
      "none"}},
    {"defect_of_floats", Strength::kShape, kAnyProgram, of_cycles,
     "the cycles reduce the error, but not below {error} (relative to the largest value). A float has too few digits: "
     "the defect is a small difference of large values",
     {"the types: the solution and the sum of its neighbours in double; only the defect and the corrections are "
      "floats"}},
    {"no_coarse_correction", Strength::kShape, kAnyProgram, of_cycles,
     "the smooth part of the error stays: nothing that the coarser levels find reaches the field",
     {"whether the coarse correction is interpolated and added before the last sweep",
      "whether the coarse level's defect is set in every cycle, before that level is solved"}},
    {"coarse_defect_without_its_factor", Strength::kShape, kAnyProgram, of_cycles,
     "the coarser levels' correction is a quarter of what it should be: 3/4 of a smooth error is left. On a grid twice "
     "as coarse the same defect counts four times, because it has the square of the distance in it",
     {"the weights that make the coarse defect: those of one coarse point sum up to "
      "(coarse distance / fine distance)^2, 4 for odd n, and not to 1"}},
    {"coarse_correction_of_wrong_sign", Strength::kShape, kAnyProgram, of_cycles,
     "the coarser levels' correction has the wrong sign: it makes smooth errors larger",
     {"the sign of the defect (east + north + west + south - 4 u), and whether the correction is added or subtracted"}},
    {"coarse_correction_scaled", Strength::kShape, kAnyProgram, of_cycles,
     "the coarser levels' correction is {scale} times what it should be, as the smoothest errors show",
     {"the weights of the interpolation, which sum up to 1, and those of the coarse defect, which sum up to "
      "(coarse distance / fine distance)^2", "whether a correction is added twice, or is left from the cycle before",
      "which coarse point is to the left of a fine one, and which weight belongs to it"}},
    {"rough_errors_stay", Strength::kShape, kAnyProgram, of_cycles,
     "a cycle leaves {left} of the rough errors, which change sign from point to point. No coarser level can show "
     "these: the sweeps have to damp them",
     {"the factors of the two sweeps: without damping (1) a sweep keeps the roughest error as it is",
      "whether both sweeps are there, each with the defect that belongs to its correction",
      "whether all neighbours of a point are of the same state: a barrier between the points that are read and those "
      "that are written"}},
    {"level_skipped", Strength::kShape, kAnyProgram, of_cycles,
     "the smoothest errors are corrected and the roughest are damped, but of those between {left} is left: there is a "
     "level that no sweep damps",
     {"the numbers of points of the levels: n, n / 2 + 1, and so on, each with its own sweeps",
      "whether the coarse defect is that after the first sweep"}},
    {"residual_of_the_field_after", Strength::kModel, kAnyProgram, of_cycles,
     "the field is right. The residual is that of the field after the cycle; the lab wants that of the field which "
     "the cycle begins with, as in all steps before", {"the order of the defect's sum and the correction"}},
    {"defect_for_residual", Strength::kModel, kAnyProgram, of_cycles,
     "the field is right. The residual is four times as large as it should be: it is that of the defect, and a sweep "
     "would change a point by a quarter of that", {"what is done with the sum in main"}},
    {"residual_without_its_n", Strength::kModel, kAnyProgram, of_cycles,
     "the field is right. The residual is not divided by n", {"what is done with the sum in main"}},
    {"residual_without_its_root", Strength::kModel, kAnyProgram, of_cycles,
     "the field is right. The residual is the mean of the squares; its root is missing",
     {"what is done with the sum in main"}},
    {"residual_of_another_level", Strength::kSymptom, kAnyProgram, of_cycles,
     "the field is right, and the residual is not that of the field which the cycle begins with",
     {"whether the sum is set to 0 before each cycle, and which levels add to it: only the finest one's defect counts",
      "which of a block's threads add to the sum"}},
};
// clang-format on

}  // namespace validate
