// Cycles over several grids: what explain/cycles.cpp finds in the errors that they leave, and tells
// itself: no single run shows it.

#include "explain/mistakes/families.h"

namespace validate {

// clang-format off
const Family kCycleMistakes = {
    {"cycle_with_a_slip", Strength::kModel, kAnyProgram, nullptr,
     "{cause} (cycles with just this mistake give the same field as yours, after one and after two)", {"{where}"}},
    {"cycle_changes_the_boundary", Strength::kShape, kAnyProgram, nullptr,
     "a cycle changes the boundary, whose values are given: point ({i}, {j}) is the first",
     {"the points that the correction is added to, and those that the start interpolates from a coarser level: 1 to "
      "n - 2 on both axes; and whether corrections are 0 on the boundary of every level",
      "whether what main hands over as the result is u, a float for each point"}},
    {"last_level_is_not_solved", Strength::kModel, kAnyProgram, nullptr,
     "at n = 3 there is one interior point, and a cycle changes it by {scale} times what it needs",
     {"how the last level, of 3 points per side, is solved: its correction is r / 4, because r = 4 (exact value - u) "
      "there"}},
    {"cycle_leaves_out_lines", Strength::kShape, kAnyProgram, nullptr,
     "a cycle does not change {count} interior {lines} at all (the first is {first}), and does change the others",
     {"the launch grid of the kernel that changes u: whether its blocks reach all points, with as many points for each "
      "thread as the kernel has", "the loop over a thread's points, and its bounds: 1 to n - 2"}},
    {"second_cycle_changes_nothing", Strength::kShape, kAnyProgram, nullptr,
     "the second cycle leaves the field as the first one left it",
     {"whether the correction is added to the field that is written in the end, in every cycle"}},
    {"cycle_begins_anew", Strength::kShape, kAnyProgram, nullptr,
     "the first cycle takes the residual from {before} to {after}; the second one begins with {second} again, and not "
     "with the field that the first one has left",
     {"what sets u in the loop, beside the correction: the start from the coarser levels is made once, before the "
      "first cycle; made again, it overwrites what the cycles have found"}},
    {"defect_of_floats", Strength::kShape, kAnyProgram, nullptr,
     "the cycles reduce the error, but not below {error} (relative to the largest value). Most likely a float has too "
     "few digits: the defect is a small difference of large values",
     {"the types where the defect is computed: each u is converted to double before it is added; u, the defect that is "
      "stored, and the corrections may be floats",
      "{?near|if they are right: a slow cycle, too, stops a little away from the solution. The weights that make the "
      "coarse r and those of the interpolation: which of them belongs to which coarse row and column}"}},
    {"cycle_loop_ends_early", Strength::kShape, kAnyProgram, nullptr,
     "the loop ends after {made} of {asked} cycles, with the residual {residual}",
     {"whether the sum is set to 0 before each cycle: a residual that is not a number ends the loop",
      "the loop's condition: --iterations K asks for K cycles, whatever the residual is"}},
    {"only_sweeps", Strength::kShape, kAnyProgram, nullptr,
     "no coarser level changes the field: a cycle multiplies each wave of the error by {factor}, as sweeps on the "
     "finest level do",
     {"{?grows|the sign of r: it is east + north + west + south - 4 u, and what it gives is added to u (a wave that "
      "lambda adds to is one that grows)}", "{?as_meant|once stage 5 is done: whether e of the coarser level is "
      "interpolated, at places computed in double (point i lies at i * (m - 1) / (n - 1) there, which is about i / 2), "
      "and added between the two sweeps; and whether r of each level is set in every cycle. Only the level on which a "
      "cycle begins adds what it finds to u: all coarser ones leave it in e|{?!grows|the two sweeps (stage 3): with "
      "the factors 1.39 and 0.56 they multiply a wave by (1 - 1.39 lambda) (1 - 0.56 lambda), which is "
      "1 - 1.95 lambda + 0.78 lambda^2}}",
      "{?!as_meant|{?!grows|the second sweep: it begins with what the first one gives, at the point and at its four "
      "neighbours, and has the same r in it; what both give together is added to u; once stage 5 is done: whether the "
      "way up reaches level 0}}"}},
    {"no_coarse_correction", Strength::kShape, kAnyProgram, nullptr,
     "the smooth part of the error stays: what the coarser levels find does not reach the field, or is not what the "
     "field lacks there",
     {"the weights that make the coarse defect: each is one along x, which the columns give, times one along y, which "
      "the rows give. Those of one coarse point sum up to (coarse distance / fine distance)^2, 4 for odd n, because a "
      "defect has the square of the distance in it",
      "where point i lies on the coarser level: at i * (m - 1) / (n - 1), which is about i / 2, and not 2 * i (n "
      "points a side have n - 1 distances)",
      "whether the coarse correction is interpolated and added to e, before the last sweep (not subtracted, nor put in "
      "its place), and whether e as it is, not a part of it, is added to u",
      "whether each kernel reaches all points of the level that it writes (its launch grid, and the threads of one "
      "block that deals with a whole level); and whether a level's defect is set in every cycle, before that "
      "level is solved (a weight that is a quotient of two ints is 0)",
      "the levels that each launch in the loops is given: r of level k + 1 is made of that of level k, and e of level "
      "k is corrected by that of level k + 1"}},
    {"coarse_correction_scaled", Strength::kShape, kAnyProgram, nullptr,
     "of the smoothest errors the coarser levels correct {scale} times what they should",
     {"{?large|{once}}",
      "{?negative|the signs: r is east + north + west + south - 4 u, and what it gives is added}",
      "{?negative||the weights that make the coarse r (one along x times one along y), which sum up to (coarse "
      "distance / fine distance)^2, about 4, for odd and for even n}",
      "{?negative||where a fine point lies on the coarser level, in these weights and in the interpolation: point i at "
      "i * (m - 1) / (n - 1), so the last one at m - 1; and which weight belongs to the coarse point west of it}",
      "{?negative||whether the coarse defect is that after the first sweep: what the sweep has corrected is not to be "
      "corrected again}",
      "{?large||{once}}"}},
    {"rough_errors_stay", Strength::kShape, kAnyProgram, nullptr,
     "a cycle leaves {left} of the rough errors, which change sign from point to point. No coarser level can show "
     "these: the sweeps have to damp them",
     {"{?huge|what makes it so much larger: the weights of the interpolation, which are parts between 0 and 1, and sum "
      "up to 1, and those of the coarse r}",
      "the factors of the two sweeps: without damping (1) a sweep keeps the roughest error as it is",
      "whether both sweeps are there, each with the defect that belongs to its correction",
      "whether all neighbours of a point are of the same state: a barrier between the points that are read and those "
      "that are written"}},
    {"errors_between_stay", Strength::kShape, kAnyProgram, nullptr,
     "the smoothest errors are corrected and the roughest damped, but of those between {left} is left",
     {"whether each level's correction begins with 0 in each cycle, and is computed before the finer level takes it; "
      "and the signs in what the first sweep leaves of r for the coarser level: r + its four neighbours' e - 4 e",
      "the numbers of points of the levels, n, n / 2 + 1, and so on, each with both sweeps; and the points of the "
      "finer level that each coarser point takes the defect from, with their weights, which differ for even and odd n",
      "the interpolation of the correction: where a fine point lies on the coarser level (that is the finer level's "
      "ratio), and its weights along x and along y",
      "the factors of the sweeps: 1.39 and 0.56 leave at most 0.22 of what no coarser level shows, 0.8 twice 0.36"}},
    {"residual_of_a_cycle", Strength::kModel, kAnyProgram, nullptr,
     "the field is right. The residual is {what}", {"what is done with the sum in main"}},
    {"residual_of_another_level", Strength::kSymptom, kAnyProgram, nullptr,
     "the field is right, and the residual is not that of the field which the cycle begins with",
     {"whether the sum is set to 0 before each cycle, and which levels add to it: only the finest one's defect counts",
      "what is added: r * r of each point, once; and which of a block's threads add to the sum"}},
};
// clang-format on

}  // namespace validate
