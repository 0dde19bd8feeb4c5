// Formulas of the residual, and what a change is taken against: each gives all residuals.

#include <algorithm>
#include <cmath>
#include <string>

#include "explain/looks/sum_look.h"
#include "explain/mistakes/families.h"
#include "run/text.h"
#include "source/source_code.h"

namespace validate {
namespace {

using std::sqrt;

struct Formula {
  const char* cause;
  double (*residual)(const Sweep&, double n);
};

// clang-format off
const Formula kFormulas[] = {
    {"the root is missing: it is the mean of the squares",
     [](const Sweep& s, double n) { return s.total / (n * n); }},
    {"it is neither divided by n * n, nor is the root taken: it is the sum of the squares",
     [](const Sweep& s, double) { return s.total; }},
    {"the changes are not squared, but made positive",
     [](const Sweep& s, double n) { return sqrt(s.absolute) / n; }},
    {"the changes are not squared, so that plus and minus cancel",
     [](const Sweep& s, double n) { return sqrt(s.plain) / n; }},
};
// clang-format on

Answer other_formula(const SumLook& look) {
  for (const Formula& formula : kFormulas) {
    if (look.explained([&](const Sweep& s) { return formula.residual(s, look.n); })) {
      return Answer("residual_of_another_formula").with("cause", formula.cause);
    }
  }
  for (std::size_t g = 0; g < kGroups.size(); ++g) {
    if (look.sum_explained([g](const Sweep& s) { return s.of_groups[g]; })) {
      const auto& [width, height] = kGroups[g];
      return Answer("residual_of_another_formula")
          .with("cause",
                format("the changes of %d x %d points are added up first, and their sum is "
                       "squared, so that plus and minus cancel; each change has to be squared",
                       width, height));
    }
  }
  return {};
}

/// The change of a point against another point's old value.
Answer other_point(const SumLook& look) {
  constexpr int kSouth = 1, kNorth = 7;
  for (int p = 0; p < 9; ++p) {
    const auto kept = [p](const Sweep& s) {
      return p == kSouth ? s.kept_against_south : p == kNorth ? s.kept_against_north : 0;
    };
    if (p == 4) continue;
    // Where lanes have several columns, the boundary's add their change, too, which should be 0.
    if (look.sum_explained([&](const Sweep& s) { return s.against[p]; }) ||
        look.sum_explained([&](const Sweep& s) { return s.against[p] + kept(s); })) {
      return Answer("change_against_another_point")
          .with("point", point_from_here(p % 3 - 1, p / 3 - 1))
          .with("rows_move", look.has(kStrips) && (p == kSouth || p == kNorth));
    }
  }
  return {};
}

/// The change of a point against what stood there in the new field.
Answer other_field(const SumLook& look) {
  if (look.sweeps.size() < 2 || look.equal(look.sweeps[0].against_hidden, look.sweeps[0].total)) {
    return {};
  }
  return look.sum_explained([](const Sweep& s) { return s.against_hidden; })
             ? Answer("change_against_the_new_field")
             : Answer();
}

// ---- A factor

/// What the sum is divided by, whose root is `factor` times the right one: "" if that is no number
/// with a meaning.
std::string divisor_words(const SumLook& look, double factor) {
  const double n = look.n, divisor = n * n / (factor * factor), whole = std::round(divisor);
  const double side = std::round(sqrt(whole)), rows = whole / n, times = rows / n;
  if (std::fabs(factor * n - 1) < 1e-7) return "it is divided by n once too often";
  if (std::fabs(divisor - whole) > 1e-7 * whole) return "";
  const bool of_rows = rows >= 1 && rows == std::floor(rows), again = times == std::floor(times);
  if (!of_rows && side * side != whole) return "";
  return format("under the root the sum is divided by ") +
         (again     ? format("n * n * %.0f", times)
          : of_rows ? (rows == 1 ? "n" : format("n * %.0f", rows))
                    : format("%.0f * %.0f", side, side)) +
         ", and not by n * n" +
         (look.ranks < 2 ? ""
          : again        ? ": there are as many ranks"
                         : ", as if for the rows that one rank has, or holds");
}

Answer factor(const SumLook& look) {
  if (look.sweeps.size() < 2) return {};
  const Sweep& first = look.sweeps[0];
  const double factor = first.found / first.right;
  if (!(factor > 0) || !look.explained([&](const Sweep& s) { return factor * s.right; })) return {};
  // Right in this run, and wrong in another: a race.
  if (std::fabs(factor - 1) < 1e-6) return {};
  const double times = factor * factor, whole = std::round(times), root = std::round(sqrt(whole));
  if (whole < 2 || whole > 65536 || std::fabs(times - whole) >= std::min(1e-2, 1e-6 * whole)) {
    return Answer("residual_times_a_factor")
        .with("factor", format("%.6g", factor))
        .with("divisor", divisor_words(look, factor));
  }
  const double every = constant_in(look.evidence.source, "kCheckEvery");
  return Answer("changes_are_counted_again")
      .with("times", static_cast<long>(whole))
      .with("root", root * root == whole && whole != every ? format("%.0f", root) : "")
      .with("ranks", look.ranks > 1 && (whole == look.ranks || root == look.ranks)
                         ? std::to_string(look.ranks)
                         : "")
      .with("divisor",
            look.ranks > 1 || std::fmod(whole, look.n) == 0 ? divisor_words(look, factor) : "")
      .with("all_points", whole >= 1024);
}

}  // namespace

// clang-format off
const Family kFormulaMistakes = {
    {"residual_of_another_formula", Strength::kModel, kAnyProgram, of_sum<other_formula>,
     "the field is right, the residual's formula is not: {cause}", {"{formula}, and what {sweep} adds up"}},
    {"change_against_the_new_field", Strength::kModel, kAnyProgram, of_sum<other_field>,
     "the field is right, but the change is computed from what the new field held before the sweep, not from the old "
     "field",
     {"{change_line}: value minus the old field's point"}},
    {"change_against_another_point", Strength::kModel, kAnyProgram, of_sum<other_point>,
     "the field is right, but the change is computed from the old value of point {point}, not of the point itself",
     {"{change_line}{?rows_move|; and whether the old value is taken before the rows move on by one}"}},
    {"changes_are_counted_again", Strength::kModel, kAnyProgram, of_sum<factor>,
     "every squared change is counted {times} times{?root|, or the residual is multiplied by {root} after the "
     "root}{?ranks| (there are {ranks} ranks)}{?divisor|; or {divisor}}",
     {"{?ranks|{sum_over_ranks}: once, from what each rank has for its own rows}",
      "which threads add to the sum: each change once, and a block's (or a warp's) sum by only one thread, and where "
      "sums of warps are added up, each of them once; whether "
      "{sweep} is launched once per sweep{?all_points|, and each thread goes over its own points only}{?strips|, and "
      "no two warps have the same strip}{?shuffles|; the shuffles' offsets, 16, 8, 4, 2, 1: one of 32 gives each "
      "lane its own value again}{?ring|; and, if a factor of the values is left to the end, whether the sum gets its "
      "square}", "{formula}"}},
    {"residual_times_a_factor", Strength::kModel, kAnyProgram, of_sum<factor>,
     "the residual is {factor} times the correct one: {?divisor|{divisor}|its divisor, or a factor, is a "
     "different one}",
     {"{formula}, and what {sweep} adds up"}},
};
// clang-format on

}  // namespace validate
