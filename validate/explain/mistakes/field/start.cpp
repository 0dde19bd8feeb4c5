// What the fields begin with, and what is handed over in the end.

#include <algorithm>
#include <cmath>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "explain/looks/field_look.h"
#include "explain/mistakes/families.h"
#include "run/text.h"
#include "source/source_code.h"

namespace validate {
namespace {

/// Whether the field is what a sweep makes of one in which some rows or columns have no starting
/// values: nothing is a number there, or they are 0. The boundary shows which.
Answer missing_starts(const FieldLook& look) {
  if (look.first != 1 || look.ring.count() == 0 || !look.points_differ()) return {};
  // What shared memory lacks was not loaded, though it had a start.
  const Finding& finding = look.evidence.finding;
  if (finding.is("unwritten") && finding.shared()) return {};
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
  if (!rows.empty()) which.push_back(lines_in_words(rows, 'j'));
  if (!columns.empty()) which.push_back(lines_in_words(columns, 'i'));
  return Answer("lines_without_a_start")
      .with("given", look.starts_right())
      .with("lines", join(which))
      .with("have", rows.size() + columns.size() == 1 ? "has" : "have");
}

/// What a run of no iteration hands over, if it is not what the field should begin with.
Answer wrong_before_the_first_sweep(const FieldLook& look) {
  const auto none = look.after(0);
  if (!none || none->iterations != 0 || none->field.size() != look.start_old.size()) return {};
  const Cells wrong = differing(look.start_old, none->field, look.n, 0);
  if (wrong.count() == 0 || agree(look.start_new, none->field, look.n, 0)) return {};
  return Answer(true).with("count", wrong.count()).with("all", none->field.size());
}

/// Whether each sweep makes of the field that was found before it what is found after it, so that
/// only the field that the first one began with was wrong.
Answer only_the_start(const FieldLook& look) {
  // What the first sweep makes of right values is right, whatever the other field began with.
  if (look.first != 1 || look.inside.count() == 0) return {};
  auto before = look.after(1);
  double said = 0, made = 0;  // the residual of sweep 2
  for (const int k : {2, 3}) {
    const auto seen = look.after(k);
    if (!before || !seen || seen->iterations != k) return {};
    const auto number = [](float v) { return std::isfinite(v); };
    if (!std::all_of(before->field.begin(), before->field.end(), number)) return {};
    Sweeps sweep(look.n, before->field);
    Field made_of_it = sweep.after(1);
    // Of two fields that change roles each has a boundary of its own.
    if (look.has(kSwaps)) {
      const Field& other = (k == 3 ? look.after(1) : seen)->field;
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
  if (std::fabs(said - made) > 1e-5 * made || look.starts_right()) return {};
  int sides = 0;
  return Answer("wrong_starting_values")
      .with("where", look.ring.count() > 0 ? sides_of(look, &sides) : "its interior");
}

/// What the result holds where it is wrong first. If the residuals are right in later iterations as
/// well, so are the fields that the sweeps read.
Answer not_handed_over(const FieldLook& look) {
  constexpr std::size_t kEnough = 4;  // points of which no four others are alike
  const Wrong& wrong = look.evidence.wrong;
  const bool other_field = look.interior_only() && look.pattern.kind == Pattern::kAll;
  if (wrong.residual || look.first >= wrong.made || look.inside.count() == 0 || other_field ||
      !look.points_differ()) {
    return {};
  }
  const std::size_t all = look.found.size(), n = look.n;
  const auto point = [n](std::size_t k) { return format("(%zu, %zu)", k % n, k / n); };
  const auto holds = [&](std::size_t place, std::size_t what) {
    return look.near(look.expected[what], look.found[place]);
  };
  std::size_t first = 0, what = 0, k = 0;
  while (first < all && holds(first, first)) ++first;
  const std::size_t enough = std::min(kEnough, all - first);
  for (; what + enough <= all && k < enough; ++what) {
    for (k = 0; k < enough && holds(first + k, what + k);) ++k;
  }
  const double value = first < all ? look.found[first] : 0;
  return Answer("result_is_not_handed_over")
      .with("quarter", 4 * first == all || 4 * first == n)
      .with("by_rows", says(look.evidence.source, "cudaMemcpy2D") || (first == n && n > 1))
      .with("place", point(first))
      .with("value", k == enough         ? "what belongs to point " + point(what - 1)
                     : std::isnan(value) ? "what nothing has written"
                                         : format("%.6g", value));
}

/// Two fields in one allocation, of which the second one begins n floats after the first, or n * (n -
/// 1), and not n * n.
Answer fields_overlap(const FieldLook& look) {
  static const std::regex allocated(R"(cudaMalloc\w*\(&?(\w+),[^;]*(?:\b2\*|\*2\b))");
  static const std::regex begins(
      R"(\*?\w+(?:\[\d\])?=\*?(\w+)\+(?:(?:std::size_t\(n\)|n)\*(\(n-1\))|(?:\w+(?:\.|->))?n);)");
  const std::string& source = look.evidence.source;
  const std::vector<std::string> lines = code_lines(source);
  std::set<std::string> both;
  for (std::size_t k = 0; k < lines.size(); ++k) {
    const std::string code = code_at(source, static_cast<int>(k) + 1);
    std::smatch match;
    if (std::regex_search(code, match, allocated)) both.insert(match[1]);
    if (!std::regex_search(code, match, begins) || both.count(match[1]) == 0) continue;
    return Answer(true)
        .with("line", k + 1)
        .with("base", match[1].str())
        .with("less", match[2].matched);
  }
  return {};
}

}  // namespace

// clang-format off
const Family kStartMistakes = {
    {"result_is_not_handed_over", Strength::kModel, kAnyProgram, of_field<not_handed_over>,
     "the residuals are right, so the field that the sweeps leave is right as well, but it is not what is handed over "
     "as the result: point {place} is the first wrong one{?quarter|, after a quarter of all (as if a float were one "
     "byte)}, and holds {value}",
     {"what run.finish is given in main{?gives_rows|: it gets to, j and rows, in this order, and is asked for some "
      "rows at a time, from row j on, so the copy begins {?pitch or by_rows|with that row, and copies rows of n "
      "floats|at f_old + idx(0, j, n), and copies rows * n floats}, each of sizeof(float) bytes}",
      "{?pitch or by_rows|cudaMemcpy2D, which leaves the padding out: its width is the number of bytes that are copied "
      "of a row, a pitch the number of bytes from one row to the next, padding included, each in its own memory}"}},
    {"lines_without_a_start", Strength::kModel, kAnyProgram, of_field<missing_starts>,
     "{?given|{lines} {have} starting values, but the sweep does not get them, and computes as if nothing had been "
     "written there|{lines} {have} no starting values. Elsewhere the sweep is right, and there it reads what "
     "nothing has written}",
     {"{?given|how {sweep} gets the points of the boundary: it reads all points, 0 to n - 1, and so does what loads "
      "them into a tile}",
      "{?!given|{?gives_rows|the kernel that writes the starting values, and its launch: every point (i, j), 0 to n - "
      "1, has a thread (a launch grid that is rounded up), or a turn of a thread's loop; or, if the host's are copied, "
      "the number of bytes, n * n * sizeof(float)|the loops of initialize_field: they go over all points, i and j from "
      "0 to n - 1{?memcpy|; and each copy of a field by bytes: n * n * sizeof(float)}}}"}},
    {"fields_overlap", Strength::kModel, kAnyProgram, of_field<fields_overlap>,
     "at line {line} a field begins n{?less| * (n - 1)} floats after {base}, and each field has n * n: the two share "
     "memory",
     {"line {line}: {base} + n * n, with n * n as a std::size_t"}},
    {"wrong_starting_values", Strength::kModel, kAnyProgram, of_field<only_the_start>,
     "each sweep computes from the previous field what it should, but the first one begins with wrong starting values "
     "({where})",
     {"initialize_field: each point (i, j) gets start(i, j), once, i and j from 0 to n - 1{?slabs|, where j is the "
      "whole field's row, and not the rank's own}; and whether something changes the values before the first sweep",
      "{?tile|whether the tile also loads the boundary's points: columns and rows 0 and n - 1}",
      "{starts_in_main}",
      "{?!swaps|idx: each point has a place of its own in memory}"}},
    {"wrong_before_the_first_sweep", Strength::kSymptom, kAnyProgram, of_field<wrong_before_the_first_sweep>,
     "before the first sweep {count} of {all} points already have another value than their starting value",
     {"idx: each point (i, j) has a place of its own in memory",
      "what fills the fields: each point gets start(i, j); and the memory of the two fields: n * n floats for each"}},
};
// clang-format on

}  // namespace validate
