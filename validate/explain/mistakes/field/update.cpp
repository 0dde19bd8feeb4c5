// The update itself: which points a new value is made of.

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "explain/looks/field_look.h"
#include "explain/looks/stencil_fit.h"
#include "explain/mistakes/families.h"
#include "run/text.h"

namespace validate {
namespace {

/// Whether the terms are the four right ones around another point, which is at (di, dj).
bool is_shifted(const StencilFit& fit, int* di, int* dj) {
  if (fit.terms.size() != 4) return false;
  int sum_i = 0, sum_j = 0;
  for (const Term& term : fit.terms) {
    sum_i += term.di;
    sum_j += term.dj;
  }
  *di = sum_i / 4;
  *dj = sum_j / 4;
  return std::all_of(fit.terms.begin(), fit.terms.end(), [&](const Term& term) {
    return std::abs(term.di - *di) + std::abs(term.dj - *dj) == 1 && term.factor == 0.25 &&
           term.from == From::kOld;
  });
}

/// What a point becomes, as an answer of the entry `rule`, or of a more special one.
Answer describe_fit(const FieldLook& look, const StencilFit& fit, const char* rule,
                    const std::string& where) {
  const auto all = [&](auto test) { return std::all_of(fit.terms.begin(), fit.terms.end(), test); };
  const auto none = [&](From from) {
    return all([=](const Term& term) { return term.from != from; });
  };
  const bool all_new = none(From::kOld), reads_new = !none(From::kNew),
             late = !none(From::kOverwritten);
  int di = 0, dj = 0;
  const bool shifted = is_shifted(fit, &di, &dj);
  Answer answer(reads_new || late   ? "update_reads_the_new_field"
                : fit.terms.empty() ? "update_of_a_constant"
                : shifted           ? "update_of_a_point_beside"
                                    : rule);
  answer.with("where", where)
      .with("formula", fit.words())
      .with("all_new", all_new)
      .with("reads_new", reads_new)
      .with("overwritten", late);
  if (shifted) answer.with("shift", point_from_here(di, dj));
  // On a GPU with many multiprocessors a warp may have one row of its own, so that all are at an
  // end.
  return answer.with("march_first",
                     look.has(kStrips) && fit.terms.size() == 3 && fit.lacks_row() != 0);
}

/// All points that are not at the edge of a block: those at an edge may read beyond the tile, where
/// anything may stand.
Cells inside_blocks(int n) {
  constexpr int kBlock = 32, kEdge = 3;
  const auto inside = [n](int k) {
    return k % kBlock >= kEdge && k % kBlock < kBlock - kEdge && k < n - kEdge;
  };
  return Cells::where(n, [&](int i, int j) { return inside(i) && inside(j); });
}

Answer fit_everywhere(const FieldLook& look) {
  if (!look.interior_only()) {
    // Stored to a place beside, the values of one side come to the boundary.
    const int n = look.n;
    const Cells inner =
        Cells::where(n, [n](int i, int j) { return std::min(i, j) > 1 && std::max(i, j) < n - 2; });
    const StencilFit moved = fit_stencil(look.before, look.found, inner, look.hidden);
    int di = 0, dj = 0;
    if (!moved.found || !is_shifted(moved, &di, &dj) || (di == 0 && dj == 0)) return {};
    return describe_fit(look, moved, "wrong_update", "each point");
  }
  // In place every point is computed alike, those too that come out right.
  const StencilFit fit = fit_stencil(look.before, look.found, look.interior(), look.hidden);
  if (fit.found) return describe_fit(look, fit, "wrong_update", "each point");
  const Cells some = inside_blocks(look.n);
  if (!look.has(kTile) || !look.all_of(some, [&](int i, int j) { return look.inside.has(i, j); })) {
    return {};
  }
  const StencilFit in_blocks = fit_stencil(look.before, look.found, some, look.hidden);
  return in_blocks.found ? describe_fit(look, in_blocks, "wrong_update",
                                        "each point that is not at the edge of a block")
                         : Answer();
}

/// The wrong points alone are computed alike, and not as they should be.
Answer fit_where_wrong(const FieldLook& look) {
  if (look.ring.count() > 0) return {};
  const StencilFit fit = fit_stencil(look.before, look.found, look.inside, look.hidden);
  const bool kept = fit.terms.size() == 1 && fit.terms[0].di == 0 && fit.terms[0].dj == 0 &&
                    fit.terms[0].factor == 1;  // no update at all: kept_values
  if (!fit.found || kept) return {};
  Answer answer = describe_fit(look, fit, "wrong_update_of_some_points",
                               "each point of " + look.pattern.words());
  // Some whole rows: those with which a march begins or ends.
  const bool rows = look.pattern.kind == Pattern::kRows && look.pattern.rows.at.size() > 1;
  if (look.has(kStrips) && rows) answer.with("march_first", true);
  return answer.as(Strength::kShape);
}

// ---- Where it is wrong

/// Whether only points are wrong that read the boundary.
Answer beside_the_boundary(const FieldLook& look) {
  if (!look.interior_only()) return {};
  const int n = look.n;
  int side[4] = {};
  const bool beside = look.all_of(look.inside, [&](int i, int j) {
    side[0] += i == 1, side[1] += i == n - 2, side[2] += j == 1, side[3] += j == n - 2;
    return i == 1 || i == n - 2 || j == 1 || j == n - 2;
  });
  bool wrong[4];
  for (int k = 0; k < 4; ++k) wrong[k] = 4 * side[k] > n;
  if (!beside || std::count(wrong, wrong + 4, true) == 0) return {};
  return Answer("beside_the_boundary").with("where", sides_in_words(wrong));
}

/// Whether the wrong points, or the most of them that say anything, take a neighbour from elsewhere:
/// a place that lies equally far from all of them in memory.
Answer neighbour_from_elsewhere(const FieldLook& look) {
  if (!look.interior_only() || !look.points_differ()) return {};
  const int n = look.n, steps[] = {1, n, -1, -n}, size = n * n;
  const char* const names[] = {"east", "north", "west", "south"};
  std::vector<int> wrong;
  for (int k = 0; k < size; ++k) {
    if (look.inside.has(k % n, k / n)) wrong.push_back(k);
  }
  for (int side = 0; side < 4; ++side) {
    const auto fits = [&](int k, int other) {
      double sum = 0;
      for (int m = 0; m < 4; ++m) sum += look.before[k + (m == side ? other : steps[m])];
      return look.near(0.25 * sum, look.found[k]);
    };
    // Any place from which one of them may take it is a candidate: one amid them, as at the
    // edges of the grid others may be read.
    const int middle = wrong[wrong.size() / 3];
    for (int place = 0; place < size; ++place) {
      const int other = place - middle;
      if (other == steps[side] || !fits(middle, other)) continue;
      const std::size_t count = std::count_if(wrong.begin(), wrong.end(), [&](int k) {
        return k + other >= 0 && k + other < size && fits(k, other);
      });
      if (count < 8 || 5 * count < 2 * wrong.size()) continue;
      const int dj = static_cast<int>(std::lround(static_cast<double>(other) / n));
      return Answer(true)
          .with("points", look.pattern.kind == Pattern::kOther
                              ? "wrong points"
                              : "points of " + look.pattern.words())
          .with("most", count < wrong.size())
          .with("half", 3 * count < 2 * wrong.size())
          .with("side", names[side])
          .with("place", point_from_here(other - dj * n, dj))
          .with("along", steps[side] == n || steps[side] == -n);
    }
  }
  return {};
}

/// Whether some of the neighbours are read with i and j exchanged.
Answer neighbours_exchanged(const FieldLook& look) {
  if (!look.interior_only() || !look.points_differ()) return {};
  const char* const names[] = {"east", "north", "west", "south"};
  const int di[] = {1, 0, -1, 0}, dj[] = {0, 1, 0, -1};
  for (int exchanged = 1; exchanged < 15; ++exchanged) {
    const bool fits = look.all_of(look.interior(), [&](int i, int j) {
      float sum = 0;
      for (int side = 0; side < 4; ++side) {
        const int a = i + di[side], b = j + dj[side];
        sum += exchanged >> side & 1 ? look.at(look.before, b, a) : look.at(look.before, a, b);
      }
      return look.near(sum / 4, look.at(look.found, i, j));
    });
    if (!fits) continue;
    std::vector<std::string> which;
    for (int side = 0; side < 4; ++side) {
      if (exchanged >> side & 1) which.push_back(names[side]);
    }
    return Answer(true).with("sides", join(which)).with("several", which.size() > 1);
  }
  return {};
}

/// Whether each wrong row takes one other row, in place of the one north or south of it: as if a
/// value were not moved on from row to row.
Answer rows_of_a_march(const FieldLook& look) {
  if (!look.interior_only() || !look.points_differ()) return {};
  const int n = look.n;
  for (const int side : {-1, 1}) {
    int wrong_rows = 0;
    std::vector<std::string> found;
    for (int j = 1; j < n - 1; ++j) {
      std::vector<int> wrong;
      for (int i = 1; i < n - 1; ++i) {
        if (look.inside.has(i, j)) wrong.push_back(i);
      }
      if (2 * wrong.size() < static_cast<std::size_t>(n)) continue;
      ++wrong_rows;
      const auto taken = [&](int row) {
        return std::all_of(wrong.begin(), wrong.end(), [&](int i) {
          const double others = look.at(look.before, i + 1, j) + look.at(look.before, i - 1, j) +
                                look.at(look.before, i, j - side);
          return look.near(0.25 * (others + look.at(look.before, i, row)),
                           look.at(look.found, i, j));
        });
      };
      int row = 0;
      while (row < n && (row == j + side || !taken(row))) ++row;
      if (row < n) found.push_back(format("row %d takes row %d", j, row));
    }
    if (found.size() < 4 || 2 * static_cast<int>(found.size()) < wrong_rows) continue;
    found.resize(3);
    return Answer(true).with("side", side < 0 ? "south" : "north").with("examples", join(found));
  }
  return {};
}

/// Whether many wrong points hold what other points should.
Answer right_values_elsewhere(const FieldLook& look) {
  constexpr std::size_t kEnough = 30;
  if (!look.points_differ()) return {};
  const int n = look.n;
  std::vector<std::pair<float, int>> right;
  for (int k = 0; k < n * n; ++k) right.push_back({look.expected[k], k});
  std::sort(right.begin(), right.end());
  std::vector<std::string> examples;
  std::map<std::pair<int, int>, std::size_t> shifts;
  std::size_t count = 0;
  look.all_of(look.cells, [&](int i, int j) {
    const float value = look.at(look.found, i, j);
    auto next = std::lower_bound(right.begin(), right.end(), std::pair(value, 0));
    if (next != right.begin() && (next == right.end() || !look.near(next->first, value))) --next;
    if (!look.near(next->first, value)) return true;
    const int a = next->second % n, b = next->second / n;
    ++shifts[{a - i, b - j}];
    if (count++ % kEnough == 0 && examples.size() < 3) {
      examples.push_back(format("(%d, %d) holds that of (%d, %d)", i, j, a, b));
    }
    return true;
  });
  if (count < kEnough || 3 * count < look.cells.count()) return {};
  const auto most = std::max_element(shifts.begin(), shifts.end(), [](auto& one, auto& other) {
    return one.second < other.second;
  });
  const auto [di, dj] = most->first;
  return Answer(true)
      .with("shift", 3 * most->second > count ? point_from_here(di, dj) : "")
      .with("examples", join(examples))
      .with("boundary", look.ring.count() > 0);
}

Answer not_a_number(const FieldLook& look) {
  const Cells none = Cells::where(look.n, [&](int i, int j) {
    return look.cells.has(i, j) && !std::isfinite(look.at(look.found, i, j));
  });
  if (none.interior().count() == 0) return {};
  const Pattern pattern = find_pattern(none);
  return Answer("points_are_no_numbers")
      .with("points", pattern.words())
      .with("iteration", look.first)
      .with("all", none.count() == static_cast<std::size_t>(look.n) * look.n)
      .with("few", 2 * none.count() < look.cells.count())
      .with("draw", pattern.kind == Pattern::kOther && !pattern.is_one_point());
}

}  // namespace

std::string fitted(const FieldLook& look) {
  const StencilFit fit = fit_stencil(look.before, look.found, look.inside, look.hidden);
  return fit.found ? fit.words() : "";
}

// clang-format off
const char* const kFit = "{where} becomes {formula}; it should be 0.25 of east, north, west and south each";
const std::vector<std::string> kFitLooks = {
    "{?march_first|{march}}",
    "{?strips|{put_together}|where {sweep} reads each of the four neighbours, and {update_line}{?tile|; and which "
    "points are loaded into the tile, its halo too}}"};

const Family kUpdateMistakes = {
    {"update_reads_the_new_field", Strength::kModel, kAnyProgram, of_field<fit_everywhere>,
     "{where} becomes {formula}, where {?reads_new|\"(new)\" is a value of this same sweep{?overwritten|, and }}"
     "{?overwritten|\"(overwritten)\" is what stood in the field that the sweep writes}: {?march_first|the old one was "
     "replaced before it was used|it reads the field that it writes}",
     {"{?march_first|{march}; it is the old values that move up}",
      "{?!march_first|{?!all_new|from which of the two fields each neighbour is read in {sweep}; and }the arguments of "
      "{sweep}: it reads one field and writes the other, which have memory of their own; what is new becomes old only "
      "when the whole sweep has ended}"}},
    {"update_of_a_constant", Strength::kModel, kAnyProgram, of_field<fit_everywhere>,
     "{where} becomes {formula}",
     {"{?march_first|{march}}",
      "{update_line} (1 / 4 between integers is 0, and an int holds no fraction), and what it reads{?tile|: a tile of "
      "floats, declared with __shared__, and filled before that}"}},
    {"update_of_a_point_beside", Strength::kModel, kAnyProgram, of_field<fit_everywhere>,
     "{where} becomes {formula}: what point {shift} should become, so all that it reads lies that far off, or "
     "it is stored that far off",
     {"{?march_first|{march}}",
      "where the neighbours are read in {sweep}{?tile|, and from where to where the tile is loaded}; and where the new "
      "value is stored"}},
    {"neighbours_exchanged", Strength::kModel, kAnyProgram, of_field<neighbours_exchanged>,
     "the sweep takes the {sides} neighbour{?several|s} with i and j exchanged, and the others not",
     {"how {sweep} reads the {sides} neighbour{?several|s}: the formula that idx has, or idx itself, in every index"}},
    {"wrong_update", Strength::kModel, kAnyProgram, of_field<fit_everywhere>, kFit, kFitLooks},
    {"wrong_update_of_some_points", Strength::kShape, kAnyProgram, of_field<fit_where_wrong>, kFit, kFitLooks},
    {"beside_the_boundary", Strength::kShape, kAnyProgram, of_field<beside_the_boundary>,
     "only the points next to {where} are wrong: what they read there is not what was stored there",
     {"how {sweep} gets the points of the boundary: it reads all points, 0 to n - 1, and writes 1 to n - 2{?tile|; so "
      "the tile is also loaded from 0 to n - 1}"}},
    {"neighbour_from_elsewhere", Strength::kSymptom, kAnyProgram, of_field<neighbour_from_elsewhere>,
     "{?most|{?half|half|most} of the }{points} take point {place} in place of their {side} neighbour",
     {"where {sweep} reads the {side} neighbour{?strips|, and which row that is loaded becomes it}{?along|; from one "
      "row to the next it is a row's length in memory{?pitch|, the pitch}}"}},
    {"row_is_not_moved_on", Strength::kShape, kAnyProgram, of_field<rows_of_a_march>,
     "the wrong rows take another row in place of the one {side} of them: {examples}, and so on",
     {"{?strips|what becomes the next row's {side} neighbours when a march goes on to it: the row before, each time|"
      "where {sweep} gets the {side} neighbour from}; and what is moved on from row to row"}},
    {"values_in_other_places", Strength::kSymptom, kAnyProgram, of_field<right_values_elsewhere>,
     "many wrong points hold the value that another point should have: {?shift|(i, j) that of {shift}|{examples}}",
     {"{?boundary|{?!swaps|{copy}, as the sweep does not write the boundary: it stores each value where it read it, at "
      "the same index}}",
      "{?!boundary|the index with which {sweep} stores, and those with which it reads: all of them around the same "
      "point{?strips|, and the rows that a warp loads ahead: none twice, and none left out}{?pitch|; and from one row "
      "to the next it is a pitch, everywhere}{?!swaps|; and {copy}, which stores each value where it read it}}"}},
    {"points_are_no_numbers", Strength::kSymptom, kAnyProgram, of_field<not_a_number>,
     "{?few|some of the wrong points are no numbers|{?all|the whole field|{points}}: not a number} from iteration "
     "{iteration} on, as if read where nothing had been written{?few|, or beyond the field}",
     {"{?all|what run.finish copies: the field after the last sweep, once that has ended{?streams|. In another stream "
      "the copy waits for an event that is recorded after it}; and whether the starting values were there before the "
      "first sweep|{?tile|{tile_loads}; and which ones are read|{?ring|{rows_arrive}|what {sweep} reads for these "
      "points}}}",
      "{?kernels|{?!all|whether a thread stores these points at all}}"}},
};
// clang-format on

}  // namespace validate
