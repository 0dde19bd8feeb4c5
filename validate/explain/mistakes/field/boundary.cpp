// The boundary, which every sweep must leave as it is.

#include <cmath>
#include <string>
#include <vector>

#include "explain/looks/field_look.h"
#include "explain/mistakes/families.h"
#include "run/text.h"

namespace validate {
namespace {

/// Whether the wrong points of the boundary hold a mean of four, as if they were interior points:
/// of what stands next in memory, in either order of the indices. Outside of the field is 0, or
/// `unknown`: then points that reach there say nothing.
bool is_swept(const FieldLook& look, bool i_inner, bool unknown) {
  const int n = look.n;
  const auto size = static_cast<long long>(n) * n;
  std::size_t points = 0, fits = 0;
  look.all_of(look.ring, [&](int i, int j) {
    bool outside = false;
    auto value = [&](int a, int b) -> double {
      const long long at =
          i_inner ? static_cast<long long>(b) * n + a : static_cast<long long>(a) * n + b;
      if (at < 0 || at >= size) {
        outside = true;
        return 0;
      }
      const int inner = static_cast<int>(at % n), outer = static_cast<int>(at / n);
      return i_inner ? look.at(look.before, inner, outer) : look.at(look.before, outer, inner);
    };
    const double mean =
        0.25 * (value(i + 1, j) + value(i, j + 1) + value(i - 1, j) + value(i, j - 1));
    if (outside && unknown) return true;
    ++points;
    fits += look.near(mean, look.at(look.found, i, j));
    return true;
  });
  // At its ends a side may meet what is unknown: memory behind the field.
  return points > 2 && fits + 2 >= points && 4 * points > look.ring.count();
}

/// Whether the wrong points of the boundary hold other values two sweeps later: what a field began
/// with stays there, unless a sweep writes it.
bool changes(const FieldLook& look) {
  const auto later = look.after(look.first + 2);
  return later && !look.all_of(look.ring, [&](int i, int j) {
    const float value = look.at(look.found, i, j), then = look.at(later->field, i, j);
    return value == then || !std::isfinite(value) || !std::isfinite(then);
  });
}

bool is_swept(const FieldLook& look) {
  return is_swept(look, true, false) || is_swept(look, true, true) ||
         is_swept(look, false, false) || is_swept(look, false, true);
}

Answer boundary(const FieldLook& look) {
  if (look.ring.count() == 0 || look.inside.count() > 0) return {};
  int sides = 0;
  const std::string where = sides_of(look, &sides);
  auto is = [&](auto test) {
    return look.all_of(look.ring, [&](int i, int j) { return test(look.at(look.found, i, j)); });
  };
  const bool zero = is([](float v) { return v == 0.0f; });
  const bool quarter = !zero && look.all_of(look.ring, [&](int i, int j) {
    return look.near(0.25 * look.at(look.before, i, j), look.at(look.found, i, j));
  });
  const bool none = is([](float v) { return std::isnan(v); });
  const bool swept = is_swept(look);
  // A sweep that reads beyond the field finds something else at each side of it. Nor does it read
  // anything beyond the field, if a look at every access finds no such thing.
  const Patient& patient = look.evidence.patient;
  const bool reads_right = patient.watched && !patient.finding.is_outside();
  return Answer(swept           ? "boundary_is_swept"
                : changes(look) ? "boundary_is_written"
                                : "boundary_is_written_or_never_given")
      .with("where", where)
      .with("hold", sides == 1 || sides == 4 ? "holds" : "hold")
      .with("value", zero      ? "0"
                     : none    ? "no numbers"
                     : quarter ? "a quarter of its values"
                               : "other values than at the start")
      .with("quarter", quarter)
      .with("never_given_first", (none && reads_right) || (sides == 4 && (zero || none)))
      .with("larger_n", where == "the boundary's column i = n - 1 and row j = n - 1");
}

/// Points of the interior that keep their values, where some of the boundary do not.
Answer other_points_kept(const FieldLook& look) {
  const int n = look.n;
  if (look.first != 1 || look.inside.count() == 0 || look.ring.count() == 0) return {};
  const auto hold = [&](const Field& field) {
    return look.all_of(look.inside, [&](int i, int j) {
      return look.near(look.at(field, i, j), look.at(look.found, i, j));
    });
  };
  const bool before = hold(look.before);
  if (!before && !hold(look.hidden)) return {};
  if (!look.has(kStrips)) {
    int sides = 0;
    return Answer(is_swept(look) ? "boundary_is_swept_for_interior" : nullptr)
        .with("where", sides_of(look, &sides))
        .with("points", look.pattern.kind == Pattern::kOther ? "others" : look.pattern.words());
  }
  if (!before) return {};
  for (const bool rows : {false, true}) {
    const auto outer = [=](int i, int j) { return (rows ? j : i) == 0 || (rows ? j : i) == n - 1; };
    if (!look.all_of(look.ring, outer)) continue;
    std::vector<std::string> lines, swept;
    for (int k = 0; k < n; ++k) {
      const int i = rows ? n / 2 : k, j = rows ? k : n / 2;
      if (look.inside.has(i, j)) lines.push_back(std::to_string(k));
      if (look.ring.has(i, j)) swept.push_back(std::to_string(k));
    }
    const std::size_t count = lines.size();
    if (count == 0 || count > 4 || look.inside.count() < count * (n - 2) / 2) continue;
    return Answer("other_columns_keep_their_values")
        .with("kept", join(lines))
        .with("swept", join(swept))
        .with("rows", rows);
  }
  return {};
}

}  // namespace

// clang-format off
const Family kBoundaryMistakes = {
    {"other_columns_keep_their_values", Strength::kModel, with(kStrips), of_field<other_points_kept>,
     "{?rows|rows|columns} of the interior keep their values ({?rows|j|i} = {kept}), and {?rows|rows|columns} of the "
     "boundary do not ({?rows|j|i} = {swept})",
     {"{?rows|which row keeps its values: 0 and n - 1 do{?ring|, of the row that a level sweeps in that round. In "
      "round y level l sweeps row y - l - 1, and not y}}",
      "{?!rows|which of a lane's four points keep their values: column i + k does, if it is 0 or n - 1. {?passes|If a "
      "bit says so, it is the same one where it is set and where it is asked for: 1, 2, 4 and 8 for k = 0 to 3}}"}},
    {"boundary_is_swept_for_interior", Strength::kModel, without(kStrips), of_field<other_points_kept>,
     "the sweep goes over points of {where} as if they were interior, and leaves out {points}",
     {"how i and j are computed in {sweep}: the interior has n - 2 columns and n - 2 rows, and begins at i = 1, j = 1. "
      "If both come of one number k, i = 1 + k % (n - 2) and j = 1 + k / (n - 2)"}},
    {"boundary_is_swept", Strength::kModel, kAnyProgram, of_field<boundary>,
     "the sweep goes over {where} as if it were interior: it must keep its values", {"{bounds}"}},
    {"boundary_is_written", Strength::kModel, kAnyProgram, of_field<boundary>,
     "{where} {hold} {value} after a sweep, and other ones after later sweeps: the sweep (or the copy) writes there, "
     "but it must leave the values as they are",
     {"{?quarter|what a point that keeps its value gets, if the factor 1/4 is left to the store: 4 times its old "
      "value, in each sweep of a pass|{bounds}}"}},
    {"boundary_is_written_or_never_given", Strength::kSymptom, kAnyProgram, of_field<boundary>,
     "{where} {hold} {value} after a sweep, and all else is right. Either "
     "{?larger_n|the program's n is larger than --n says, or }{?never_given_first|f_new did not begin with its values, "
     "or the sweep (or the copy) writes there|the sweep (or the copy) writes there, or f_new did not begin with its "
     "values}",
     {"{?larger_n|n in main: it is options.n}", "{?!never_given_first|{bounds}}",
      "how f_new gets its starting values, problem.initial_new(): all points, i and j from 0 to n - 1",
      "{?never_given_first|{bounds}}"}},
};
// clang-format on

}  // namespace validate
