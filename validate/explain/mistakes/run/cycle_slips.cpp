// Cycles with one slip, which are performed: one that gives every point of the field is the cause.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "explain/cycles.h"
#include "explain/looks/fields.h"
#include "explain/mistakes/families.h"
#include "source/source_code.h"

namespace validate {
namespace {

/// A cycle as the guide of step 16 builds it (solutions/16_multigrid), but for what is said here.
struct Slip {
  const char* cause;
  const char* where;
  double before = 1.39, after = 0.56;  // how far the sweeps go
  double shares = 1;                   // what the coarse r is multiplied by
  bool left_by_sweep = true;           // the coarse r is made of what the first sweep leaves
  double left_sign = 1;                // with which its sweep counts there
  bool of_three = false;               // and of 3 x 3 fine points, whatever n
  double first_e = 1, r = 1;           // what counts in the second sweep, and how often
  bool around_have_coarse = true;      // the four neighbours have the coarse correction in them
  double defect = 1;                   // the sign of r on the level on which a cycle begins
  double keep_u = 1, add = 1;          // u = keep_u * u + add * correction
  double keep_e = 0, keep_r = 0;       // what stays on a coarser level from the cycle before
  double last = 0.25;                  // times r: the correction on the last level
  bool skips_the_coarsest = false;     // the level above the last one is never corrected
  bool small_lost = false;             // the first level of at most 33 points leaves e at 0
  bool up_from_the_finest = false;     // each level is corrected before the coarser one
  bool points_round_up = false;        // the next level has (n + 1) / 2 points
  bool of_its_points = false;  // i then lies at i * (m - 1) / (n - 1), not i * (n / 2) / (n - 1)
  int longer = 0;              // point i lies at i * (m - 1) / (n - 1 + longer)
  bool half_down = false, half_up = false;  // it lies at i / 2, where shares are taken, or values
  bool linear = true, of_u = false;         // the interpolation; of the coarser level's u
  bool parts_exchanged = false;
};

Slip row(const char* cause, const char* where, void (*make)(Slip*)) {
  Slip slip;
  slip.cause = cause, slip.where = where;
  make(&slip);
  return slip;
}

// clang-format off
const char* const kSecondSweep =
    "the second sweep: a point moves 0.56 times the way from its own e to (the four e around it + r) / 4; and each of "
    "these e is the first sweep's, omega / 4 * r, plus the coarse e, interpolated there. Its result is what is added "
    "to u (pointers that are exchanged in a copy of a Level are exchanged in that copy alone)";

const char* const kPlace =
    "where point i lies on the coarser level: at i * (m - 1) / (n - 1), in double, and not at i / 2; so up to 4 x 4 "
    "fine points have a share in a coarse one";

const char* const kSubtracted =
    "the correction is subtracted from u, or r has the wrong sign: both give the same field";

const char* const kSigns =
    "where the finest level stores its result: it is added to u; and the defect, r: the four neighbours of u less 4 u";

const Slip kSlips[] = {
    row("each level's correction is a quarter of what it should be",
        "the weights that make the coarse r: those of one coarse point sum up to (coarse distance / fine distance)^2, "
        "4 for odd n, because a defect has the square of the distance in it",
        [](Slip* s) { s->shares = 0.25; }),
    row("the coarse r has the wrong sign, so that its correction is subtracted",
        "the signs: what the first sweep leaves is r - (4 e - its four neighbours), and what the coarser level finds "
        "is added", [](Slip* s) { s->shares = -1; }),
    row("the coarse r is made of the defect before the first sweep, so that both correct the same",
        "what restrict_kernel gathers: r - (4 e - the neighbours' e), with the first sweep's e = omega / 4 * r",
        [](Slip* s) { s->left_by_sweep = false; }),
    row("the coarse r gathers from 3 x 3 fine points, and with an even number of points per side 4 x 4 have a share",
        kPlace, [](Slip* s) { s->of_three = true; }),
    row("what the first sweep leaves of the defect is computed with the wrong sign",
        "what restrict_kernel gathers: r - (4 e - the neighbours' e), with the first sweep's e = omega / 4 * r",
        [](Slip* s) { s->left_sign = -1; }),
    row("the correction takes the place of u", "where the finest level stores its result: it is added to u",
        [](Slip* s) { s->keep_u = 0; }),
    row(kSubtracted, kSigns, [](Slip* s) { s->add = -1; }),
    row(kSubtracted, kSigns, [](Slip* s) { s->defect = -1; }),
    row("the second sweep has no r in it", kSecondSweep, [](Slip* s) { s->r = 0; }),
    row("r counts four times in the second sweep", kSecondSweep, [](Slip* s) { s->r = 4; }),
    row("r has the wrong sign in the second sweep", kSecondSweep, [](Slip* s) { s->r = -1; }),
    row("the second sweep takes the coarse correction at the point itself, but not at its four neighbours",
         kSecondSweep, [](Slip* s) { s->around_have_coarse = false; }),
    row("the second sweep begins with the coarse correction alone, without the first sweep's", kSecondSweep,
        [](Slip* s) { s->first_e = 0; }),
    row("there is no second sweep", kSecondSweep, [](Slip* s) { s->after = 0; }),
    row("the last level's correction is 0", "how far the loop down goes: the last level, of 3 points per side, gets "
        "an r, too; and its correction there, r / 4", [](Slip* s) { s->last = 0; }),
    row("the e of the last level but one stays 0: it is taken for the last one, or left out on the way up",
        "the loops over the levels: down as far as the last one, of 3 points per side, and up from the one before it",
        [](Slip* s) { s->skips_the_coarsest = true; }),
    row("the small levels add to u what they find, and leave nothing in e for the finer level",
        "add_to_u: only the level on which a cycle begins (k == top) adds to its u",
        [](Slip* s) { s->small_lost = true; }),
    row("on the way up each level is corrected before the coarser one, whose correction it needs",
        "the loop up: from the last level but one back to the finest", [](Slip* s) { s->up_from_the_finest = true; }),
    row("the levels have n, (n + 1) / 2, ... points per side: with an even number, one too few",
        "the next level's points: n / 2 + 1", [](Slip* s) { s->points_round_up = true; }),
    row("the levels have n, (n + 1) / 2, ... points per side: with an even number, one too few",
        "the next level's points: n / 2 + 1",
        [](Slip* s) { s->points_round_up = s->of_its_points = true; }),
    row("where the coarse r is made, each coarse point is taken to lie on every second fine one, which is so for "
        "2^k + 1 points per side only",
        kPlace, [](Slip* s) { s->half_down = true; }),
    row("the interpolation takes each coarse point to lie on every second fine one, which is so for 2^k + 1 points per "
        "side only",
        kPlace, [](Slip* s) { s->half_up = true; }),
    row("the last coarse point does not lie on the last fine one",
        "where point i lies on the coarser level: at i * (m - 1) / (n - 1), in double; so point n - 1 lies at m - 1",
        [](Slip* s) { s->longer = 1; }),
    row("the interpolation takes the coarser level's u in place of its e",
        "which field of the coarser level is interpolated: e, what that level has found",
        [](Slip* s) { s->of_u = true; }),
    row("the interpolation takes one coarse point's value as it is", "interpolated(): linear between the four coarse "
        "points around, with the parts that remain of i * ratio and j * ratio; they are no integers",
        [](Slip* s) { s->linear = false; }),
    row("a coarser level's correction is added to that of the cycle before",
        "whether e of every level is set anew in each cycle", [](Slip* s) { s->keep_e = 1; }),
    row("what makes the coarse r is added to the r of the cycle before",
        "whether r of every coarser level is set anew in each cycle: where shares are added to it (atomicAdd, +=), it "
        "has to be set to 0 before", [](Slip* s) { s->keep_r = 1; }),
    row("the parts along x and y are exchanged in the interpolation", "interpolated(): the part of i * ratio is for "
        "the step from west to east, that of j * ratio for the one from south to north",
        [](Slip* s) { s->parts_exchanged = true; }),
};
// clang-format on

using Doubles = std::vector<double>;

struct Grid {
  int n;
  Doubles u, r, e;
  double& at(Doubles* field, int i, int j) { return (*field)[std::size_t(j) * n + i]; }
  double around(const Doubles& f, int i, int j) const {
    const double* p = &f[std::size_t(j) * n + i];
    return p[1] + p[-1] + p[n] + p[-n];
  }
  template <class Work>
  void inside(Work work) const {
    all(1, work);
  }
  template <class Work>
  void all(int first, Work work) const {
    for (int j = first; j < n - first; ++j) {
      for (int i = first; i < n - first; ++i) work(i, j);
    }
  }
};

class Cycles {
 public:
  /// `boundary`: the coarse correction is interpolated there, too. It is 0, if all is right.
  /// `left_there`: what the first sweep leaves is computed there, too. It has no share, if all is
  /// right.
  Cycles(const Slip& slip, int n, const std::vector<float>& start, bool boundary, bool left_there)
      : slip_(slip), boundary_(boundary), left_there_(left_there) {
    for (int m = n; m >= 3; m = slip.points_round_up ? (m + 1) / 2 : m / 2 + 1) {
      const Doubles zeros(std::size_t(m) * m);
      grids_.push_back({m, zeros, zeros, zeros});
    }
    grids_[0].u.assign(start.begin(), start.end());
  }

  /// Solves on the coarser levels first, as stage 8 does.
  void begin(int cycles) {
    const int last = int(grids_.size()) - 1;
    for (int k = 1; k <= last; ++k) interpolate(&grids_[k], grids_[k - 1], true);
    for (int k = last; k > 0; --k) {
      for (int c = 0; c < cycles; ++c) make(k);
      interpolate(&grids_[k - 1], grids_[k], false);
    }
  }

  void make(int top = 0) {
    const int last = int(grids_.size()) - 1;
    Grid& first = grids_[top];
    const Doubles e = first.e;  // on this level the correction goes to u
    first.inside([&](int i, int j) {
      const double defect = first.around(first.u, i, j) - 4 * first.at(&first.u, i, j);
      first.at(&first.r, i, j) = slip_.defect * defect;
    });
    for (int k = top; k < last; ++k) restrict_to(&grids_[k], &grids_[k + 1]);
    grids_[last].e[4] = slip_.last * grids_[last].r[4];
    for (int k = 0; k < last - top; ++k) {
      const int at = slip_.up_from_the_finest ? top + k : last - 1 - k;
      if (slip_.skips_the_coarsest && at == last - 1) continue;
      correct(&grids_[at], grids_[at + 1], at == top ? 0 : slip_.keep_e);
      const bool first_small = grids_[at].n <= 33 && at > top && grids_[at - 1].n > 33;
      if (slip_.small_lost && first_small) grids_[at].e = Doubles(grids_[at].e.size());
    }
    // The last level has a kernel of its own.
    const double keep_u = top < last ? slip_.keep_u : 1, add = top < last ? slip_.add : 1;
    first.inside([&](int i, int j) {
      double& u = first.at(&first.u, i, j);
      u = keep_u * u + add * first.at(&first.e, i, j);
    });
    first.e = e;
  }

  const Doubles& field() const { return grids_[0].u; }

 private:
  /// How far point i of `fine` is from the first coarse point, in coarse distances.
  double place(int i, const Grid& fine, const Grid& coarse, bool half) const {
    if (half) return 0.5 * i;
    const double distances = slip_.of_its_points ? coarse.n - 1 : fine.n / 2;
    return i * distances / (fine.n - 1 + slip_.longer);
  }

  static double between(const Doubles& f, int n, double x, double y, const Slip& slip) {
    const int west = std::min(int(x), n - 2), south = std::min(int(y), n - 2);
    double part_x = slip.linear ? x - west : 0, part_y = slip.linear ? y - south : 0;
    if (slip.parts_exchanged) std::swap(part_x, part_y);
    const double* at = &f[std::size_t(south) * n + west];
    const double on_south = at[0] + part_x * (at[1] - at[0]);
    return on_south + part_y * (at[n] + part_x * (at[n + 1] - at[n]) - on_south);
  }

  /// From any level to another, for the start, which has no slip.
  static void interpolate(Grid* to, const Grid& from, bool boundary) {
    const double ratio = (from.n - 1.0) / (to->n - 1);
    for (int j = 0; j < to->n; ++j) {
      for (int i = 0; i < to->n; ++i) {
        const bool inside = i > 0 && i < to->n - 1 && j > 0 && j < to->n - 1;
        if (inside == boundary) continue;
        to->at(&to->u, i, j) = between(from.u, from.n, i * ratio, j * ratio, Slip());
      }
    }
  }

  void restrict_to(Grid* fine, Grid* coarse) {
    for (double& r : coarse->r) r *= slip_.keep_r;
    const auto r_at = [fine](int i, int j) {
      const int last = fine->n - 1;
      return fine->at(&fine->r, std::clamp(i, 0, last), std::clamp(j, 0, last));
    };
    fine->all(left_there_ ? 0 : 1, [&](int i, int j) {
      const double r = r_at(i, j);
      const double around = r_at(i + 1, j) + r_at(i - 1, j) + r_at(i, j + 1) + r_at(i, j - 1);
      const double left = r + slip_.left_sign * slip_.before * (around / 4 - r);
      const bool half = slip_.half_down;
      const double x = place(i, *fine, *coarse, half), y = place(j, *fine, *coarse, half);
      // A coarse point gathers from 4 x 4 fine ones.
      const auto share = [this, fine](int at, double place, int c) {
        const int k = at - (2 * c - 2 + fine->n % 2);
        if (slip_.of_three && k == 3) return 0.0;
        return k >= 0 && k < 4 ? std::max(0.0, 1 - std::fabs(place - c)) : 0;
      };
      for (int b = int(y); b <= int(y) + 1; ++b) {
        for (int a = int(x); a <= int(x) + 1; ++a) {
          if (std::min(a, b) < 1 || std::max(a, b) >= coarse->n - 1) continue;
          coarse->at(&coarse->r, a, b) +=
              slip_.shares * share(i, x, a) * share(j, y, b) * (slip_.left_by_sweep ? left : r);
        }
      }
    });
  }

  /// `keep`: how much of the level's correction of the cycle before stays.
  void correct(Grid* fine, const Grid& coarse, double keep) {
    Doubles e(fine->e.size()), from_coarse(fine->e.size());
    fine->all(boundary_ ? 0 : 1, [&](int i, int j) {
      const double x = place(i, *fine, coarse, slip_.half_up);
      const double y = place(j, *fine, coarse, slip_.half_up);
      const double c = between(slip_.of_u ? coarse.u : coarse.e, coarse.n, x, y, slip_);
      fine->at(&from_coarse, i, j) = c;
      fine->at(&e, i, j) = slip_.first_e * slip_.before / 4 * fine->at(&fine->r, i, j) + c;
    });
    fine->inside([&](int i, int j) {
      const double own = fine->at(&e, i, j), r = slip_.r * fine->at(&fine->r, i, j);
      const double others =
          fine->around(e, i, j) - (slip_.around_have_coarse ? 0 : fine->around(from_coarse, i, j));
      double& result = fine->at(&fine->e, i, j);
      result = keep * result + own + slip_.after * ((others + r) / 4 - own);
    });
  }

  const Slip& slip_;
  const bool boundary_, left_there_;
  std::vector<Grid> grids_;
};

/// Whether all values are the same, as far as floats can tell that sum up differently.
bool give(const Doubles& made, const std::vector<float>& found) {
  double largest = 0, distance = 0;
  for (std::size_t k = 0; k < made.size(); ++k) {
    largest = std::max(largest, std::fabs(made[k]));
    distance = std::max(distance, std::fabs(made[k] - found[k]));
  }
  return distance < 2e-5 * largest;
}

}  // namespace

Answer slip_of_cycles(int n, const std::vector<float>& start, const std::vector<float>& one,
                      const std::vector<float>& two, bool from_start, const std::string& source) {
  const double given = constant_in(source, "kStartCycles");
  // A slip that changes nothing at this n is none.
  const Slip none = {};
  Cycles right(none, n, start, false, false);
  if (!from_start) right.begin(given > 0 ? int(given) : 2);
  right.make();
  if (give(right.field(), one)) {
    right.make();
    if (give(right.field(), two)) return {};
  }
  for (const Slip& slip : kSlips) {
    if (slip.of_u && from_start) continue;  // the coarser levels' u is 0 then
    for (const int where : {1, 0, 3, 2}) {
      if (where > 1 && !slip.half_down) continue;
      Cycles cycles(slip, n, start, where % 2 == 1, where > 1);
      if (!from_start) cycles.begin(given > 0 ? int(given) : 2);
      cycles.make();
      if (!give(cycles.field(), one)) continue;
      cycles.make();
      if (give(cycles.field(), two)) {
        return Answer("cycle_with_a_slip").with("cause", slip.cause).with("where", slip.where);
      }
    }
  }
  return {};
}

}  // namespace validate
