// What the fields begin with, and what is handed over in the end.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "explain/looks/field_look.h"
#include "explain/mistakes/families.h"
#include "run/text.h"

namespace validate {
namespace {

/// "the row j = 4", "the rows j = 4..8", or "5 rows".
std::string lines_in_words(const std::vector<int>& lines, bool rows) {
  const char letter = rows ? 'j' : 'i';
  const char* const one = rows ? "row" : "column";
  if (lines.size() == 1) return format("the %s %c = %d", one, letter, lines[0]);
  if (lines.back() - lines.front() + 1 == static_cast<int>(lines.size())) {
    return format("the %ss %c = %d..%d", one, letter, lines.front(), lines.back());
  }
  return format("%zu %ss", lines.size(), one);
}

/// Whether the field is what a sweep makes of one in which some rows or columns have no starting
/// values: nothing is a number there, or they are 0. The boundary shows which.
Answer missing_starts(const FieldLook& look) {
  if (look.first != 1 || look.ring.count() == 0 || !look.points_differ()) return {};
  const int n = look.n;
  auto missing = [&](int i, int j) {
    const float value = look.at(look.found, i, j);
    return look.ring.has(i, j) && (std::isnan(value) || value == 0);
  };
  std::vector<int> rows, columns;
  for (int k = 0; k < n; ++k) {
    if (missing(0, k) && missing(n - 1, k)) rows.push_back(k);
    if (missing(k, 0) && missing(k, n - 1)) columns.push_back(k);
  }
  // If nothing else is left, it is no matter of starting values.
  const std::size_t all = n;
  if ((rows.empty() && columns.empty()) || rows.size() == all || columns.size() == all) return {};
  Field start = look.start_old;
  for (int k = 0; k < n; ++k) {
    for (int j : rows) start[static_cast<std::size_t>(j) * n + k] = look.at(look.found, 0, j);
    for (int i : columns) start[static_cast<std::size_t>(k) * n + i] = look.at(look.found, i, 0);
  }
  const Field made = Sweeps(n, start).after(1);
  for (std::size_t k = 0; k < made.size(); ++k) {
    if (std::isnan(made[k]) != std::isnan(look.found[k])) return {};
    if (!std::isnan(made[k]) && !look.near(made[k], look.found[k])) return {};
  }
  std::vector<std::string> which;
  if (!rows.empty()) which.push_back(lines_in_words(rows, true));
  if (!columns.empty()) which.push_back(lines_in_words(columns, false));
  return Answer("lines_without_a_start")
      .with("lines", join(which))
      .with("have", rows.size() + columns.size() == 1 ? "has" : "have");
}

/// What the wrong points of the boundary began with, if it is what another point should have, or one
/// value; or else an example.
std::string wrong_start(const FieldLook& look) {
  const int n = look.n;
  struct Other {
    const char* point;
    int di, dj;
  };
  constexpr Other kOthers[] = {{"(i-1, j)", -1, 0}, {"(i, j-1)", 0, -1}, {"(i-1, j-1)", -1, -1},
                               {"(i+1, j)", 1, 0},  {"(i, j+1)", 0, 1},  {"(i+1, j+1)", 1, 1}};
  for (const Other& other : kOthers) {
    if (look.all_of(look.ring, [&](int i, int j) {
          const int a = std::clamp(i + other.di, 0, n - 1), b = std::clamp(j + other.dj, 0, n - 1);
          const float found = look.at(look.found, i, j);
          return look.at(look.start_old, a, b) == found || look.at(look.start_new, a, b) == found;
        })) {
      return std::string("point (i, j) begins with the value of point ") + other.point;
    }
  }
  float low = INFINITY, high = -INFINITY;
  std::string example;
  look.all_of(look.ring, [&](int i, int j) {
    const float found = look.at(look.found, i, j), right = look.at(look.start_old, i, j);
    low = std::min(low, found), high = std::max(high, found);
    if (example.empty()) {
      example = format("point (%d, %d) begins with %.6g instead of %.6g", i, j, found, right);
    }
    return true;
  });
  return low == high ? format("all these points begin with %.6g", low) : example;
}

/// Whether idx takes a row for a few points shorter than it is, so that its last points have the
/// places of the next row's first ones.
Answer short_rows(const FieldLook& look) {
  constexpr int kMost = 4;
  const int n = look.n;
  // A copy that takes rows for shorter ones leaves the residual of the first sweep right.
  if (look.first != 1 || look.inside.count() == 0 || !look.points_differ() ||
      look.residual_is_right(1)) {
    return {};
  }
  for (const bool i_inner : {true, false}) {
    const auto at = [&](int inner, int outer) {
      return i_inner ? look.at(look.found, inner, outer) : look.at(look.found, outer, inner);
    };
    for (int by = 1; by <= kMost; ++by) {
      bool same = true, differ = false;  // what all of them hold says nothing
      for (int outer = 0; same && outer + 1 < n; ++outer) {
        same = at(n - 1, outer) == at(by - 1, outer + 1);
        differ |= at(n - 1, outer) != at(n - 1, 0);
      }
      if (!same || !differ) continue;
      return Answer("row_too_short_in_idx")
          .with("points", by == 1 ? "point" : format("%d points", by))
          .with("line", i_inner ? "row" : "column")
          .with("length", n - by);
    }
  }
  return {};
}

/// Whether each sweep makes of the field that was found before it what is found after it, so that
/// only the field that the first one began with was wrong (or what is handed over as the result).
Answer only_the_start(const FieldLook& look) {
  // What the first sweep makes of right values is right, whatever the other field began with.
  if (look.first != 1 || look.inside.count() == 0) return {};
  const Observation* before = look.interview.after(1);
  double said = 0, made = 0;  // the residual of sweep 2
  for (const int k : {2, 3}) {
    const Observation* seen = look.interview.after(k);
    if (!before || !seen || seen->iterations != k) return {};
    const auto number = [](float v) { return std::isfinite(v); };
    if (!std::all_of(before->field.begin(), before->field.end(), number)) return {};
    Sweeps sweep(look.n, before->field);
    Field made_of_it = sweep.after(1);
    // Of two fields that change roles each has a boundary of its own.
    if (look.has(kSwaps)) {
      const Field& other = (k == 3 ? look.interview.after(1) : seen)->field;
      for (int j = 0; j < look.n; ++j) {
        for (int i = 0; i < look.n; ++i) {
          const std::size_t at = static_cast<std::size_t>(j) * look.n + i;
          if (look.ring.is_boundary(i, j)) made_of_it[at] = other[at];
        }
      }
    }
    if (!agree(made_of_it, seen->field, look.n, k)) return {};
    if (k == 2) said = look.said(2), made = sweep.residual(1);
    before = seen;
  }
  if (!(made > 0)) return {};
  const bool of_field = std::fabs(said - made) <= 1e-5 * made;
  if (!of_field && !look.residual_is_right(2)) return {};
  int sides = 0;
  const bool boundary = look.ring.count() > 0;
  return Answer(!of_field                   ? "result_is_changed"
                : look.residual_is_right(1) ? "values_of_other_points"
                                            : "wrong_starting_values")
      .with("where", boundary ? sides_of(look, &sides) : "its interior")
      .with("values", boundary ? ": " + wrong_start(look) : "");
}

/// Whether the result is right up to one point, and from there on nothing has written it.
Answer unfinished_copy(const FieldLook& look) {
  std::size_t first = 0;
  while (first < look.found.size() && look.found[first] == look.expected[first]) ++first;
  if (first == 0 || look.found.size() < first + static_cast<std::size_t>(look.n)) return {};
  const auto rest_is = [&](auto test) {
    return std::all_of(look.found.begin() + static_cast<std::ptrdiff_t>(first), look.found.end(),
                       test);
  };
  // Sweeps of such a field would leave other residuals.
  if (look.evidence.wrong.residual || (!rest_is([](float v) { return v == 0; }) &&
                                       !rest_is([](float v) { return std::isnan(v); }))) {
    return {};
  }
  return Answer("result_is_copied_in_part")
      .with("count", first)
      .with("all", look.found.size())
      .with("quarter", first == look.found.size() / sizeof(float));
}

/// Whether of each row some points were copied, and row stands behind row as if it had no more.
Answer narrow_copy(const FieldLook& look) {
  constexpr int kRowsLookedAt = 4;
  // The same if the rows' distance in memory is also a quarter of what it should be.
  const int quarter = look.n / static_cast<int>(sizeof(float));
  const bool may_be = quarter >= 4 && look.points_differ() && !look.evidence.wrong.residual;
  for (int pitch = 4 * quarter + 4; may_be && pitch < look.n + 128; ++pitch) {
    int k = 0;
    for (; k < 4 * kRowsLookedAt * quarter; ++k) {
      const int from = k / quarter * (pitch / static_cast<int>(sizeof(float))) + k % quarter;
      const bool padding = from % pitch >= look.n;
      if (!padding && !look.near(look.found[k], look.at(look.expected, from % pitch, from / pitch)))
        break;
    }
    if (k == 4 * kRowsLookedAt * quarter) {
      return Answer("rows_are_copied_in_part").with("pitches", true);
    }
  }
  for (int width = look.n / 2; look.points_differ() && width >= 4; --width) {
    int k = 0;
    while (k < kRowsLookedAt * width &&
           look.near(look.found[k], look.at(look.expected, k % width, k / width))) {
      ++k;
    }
    if (k < kRowsLookedAt * width) continue;
    return Answer("rows_are_copied_in_part")
        .with("width", width)
        .with("quarter", width == look.n / static_cast<int>(sizeof(float)));
  }
  return {};
}

/// Whether the first rows are right, and the others hold what stands in memory from some point on:
/// what belongs to another part of the result.
Answer rows_from_elsewhere(const FieldLook& look) {
  if (!look.points_differ()) return {};
  const auto n = static_cast<std::size_t>(look.n);
  const auto row_holds = [&](std::size_t row, std::size_t point) {
    std::size_t k = 0;
    while (k < n && look.near(look.expected[point + k], look.found[row * n + k])) ++k;
    return k == n;
  };
  std::size_t first = 0;
  while (first < n && row_holds(first, first * n)) ++first;
  if (first == 0 || first == n) return {};
  std::size_t begin = 0;
  while (begin < first * n && !row_holds(first, begin)) ++begin;
  if (begin == first * n) return {};
  return Answer("part_of_result_from_elsewhere")
      .with("first", first)
      .with("point", format("(%zu, %zu)", begin % n, begin / n));
}

/// Whether the field is the right one, read (or written) as if a row had another length than it has
/// in memory: row j is shifted by j times the difference.
Answer shifted_rows(const FieldLook& look) {
  const int n = look.n;
  constexpr int kLargestPadding = 256, kRowsLookedAt = 4;
  // What stands `at` a place of memory whose rows have `length` floats, of which n are points.
  auto differs = [&](long long at, int length, float found) {
    const long long i = at % length, j = at / length;
    if (i >= n || j >= n) return false;  // padding, or unknown
    return !look.near(look.at(look.expected, static_cast<int>(i), static_cast<int>(j)), found);
  };
  // Values that all points share would fit anything.
  if (look.inside.count() < static_cast<std::size_t>(n)) return {};
  for (int padding = 1; padding <= kLargestPadding; ++padding) {
    const int pitch = n + padding;
    for (const bool too_short : {true, false}) {
      const int stride = too_short ? n : pitch, length = too_short ? pitch : n;
      std::size_t compared = 0;
      bool same = true;
      for (int k = 0; same && k < kRowsLookedAt * n; ++k) {
        const long long at = static_cast<long long>(k / n) * stride + k % n;
        same = !differs(at, length, look.found[k]);
        compared += at % length < n && k >= n;
      }
      if (!same || compared < 2 * static_cast<std::size_t>(n)) continue;
      return Answer("pitch_and_length_mixed_up")
          .with("padding", padding)
          .with("than", too_short ? "shorter than" : "longer than")
          .with("length", length)
          .with("stride", stride);
    }
  }
  return {};
}

}  // namespace

// clang-format off
const Family kStartMistakes = {
    {"result_is_copied_in_part", Strength::kModel, with(kSwaps), of_field<unfinished_copy>,
     "the first {count} of {all} points of the result are right, and the rest were never copied{?quarter|: only a "
     "quarter is copied, as if a float were one byte}",
     {"what run.finish is given in main: cudaMemcpy counts bytes, and rows * n floats have rows * n * sizeof(float)"}},
    {"rows_are_copied_in_part", Strength::kModel, with(kSwaps), of_field<narrow_copy>,
     "{?pitches|of each row only a quarter is copied, and rows are taken to be a quarter as far apart, as if a float "
     "were one byte|only the first {width} of {n} points of each row are copied, and one row's are stored right after "
     "another's{?quarter|: only a quarter is copied, as if a float were one byte}}",
     {"the width and the pitches of cudaMemcpy2D in main: they are counted in bytes, and n floats have n * "
      "sizeof(float)"}},
    {"part_of_result_from_elsewhere", Strength::kModel, with(kSwaps), of_field<rows_from_elsewhere>,
     "the rows from j = {first} on hold what belongs to point {point} and those after it: that part of the result is "
     "{?strips|stored in, or copied from,|copied from} the wrong place",
     {"{?strips|the row that the kernel stores in each turn: {?passes|when row y has arrived, row y - kSweeps has "
      "all the sweeps of the pass|the one between south and north}}",
      "{result_rows}, so the copy begins at f_old + idx(0, j, n)"}},
    {"pitch_and_length_mixed_up", Strength::kModel, with(kSwaps), of_field<shifted_rows>,
     "the values are right, but in the wrong places: row j is shifted by j * {padding} points, as if a row were {than} "
     "it is in memory ({length} floats, but {stride} were assumed)",
     {"the pitches and the width of cudaMemcpy2D in main: the width is the number of bytes that are copied of a row, a "
      "pitch the number of bytes from one row to the next, padding included, each in its own memory",
      "idx and what is allocated: the same length of a row everywhere"}},
    {"lines_without_a_start", Strength::kModel, kAnyProgram, of_field<missing_starts>,
     "{lines} {have} no starting values: the sweep is right, but reads there what nothing has written",
     {"{?swaps|the kernel that writes the starting values, and its launch: every point (i, j), 0 to n - 1, has a "
      "thread (a launch grid that is rounded up), or a turn of a thread's loop|the loops of initialize_field: they "
      "go over all points, i and j from 0 to n - 1}"}},
    {"row_too_short_in_idx", Strength::kModel, kAnyProgram, of_field<short_rows>,
     "the last {points} of a {line} and the first of the next {line} have the same place in memory: idx takes a {line} "
     "for {length} points long, but it has {n}",
     {"idx: from one {line} to the next it is n places (or the pitch, where rows are padded)"}},
    {"result_is_changed", Strength::kModel, kAnyProgram, of_field<only_the_start>,
     "each sweep computes from the previous field what it should, and the residuals are right: the result is not "
     "handed over unchanged ({where} is wrong{values})",
     {"what run.finish is given in main: which field, and which of its rows"}},
    {"values_of_other_points", Strength::kModel, kAnyProgram, of_field<only_the_start>,
     "each sweep computes from the previous field what it should, and the residuals are right. So either the field "
     "begins with values that belong to other points, or the result is handed over in another order ({where} is "
     "wrong{values})",
     {"start(i, j) in initialize_field: point (i, j) is stored at idx(i, j, n)", "what run.finish is given in main"}},
    {"wrong_starting_values", Strength::kModel, kAnyProgram, of_field<only_the_start>,
     "each sweep computes from the previous field what it should, but the first one begins with wrong starting values "
     "({where}{values})",
     {"initialize_field: each point (i, j) gets start(i, j), once, i and j from 0 to n - 1{?slabs|, where j is the "
      "whole field's row, and not the rank's own}; and whether something changes the values before the first sweep"}},
};
// clang-format on

}  // namespace validate
