// Several sweeps that make one pass, each of which is right by itself: what a pass alone can get
// wrong shows in how many sweeps it makes, and in where it is wrong.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "explain/looks/field_look.h"
#include "explain/mistakes/families.h"
#include "run/text.h"

namespace validate {
namespace {

constexpr int kMaxRememberedN = 300;

/// Whether the field is the right one of another number of sweeps.
Answer other_count(const FieldLook& look) {
  const bool graph = look.words.has(kGraph);
  const int asked = look.first;
  const int too_many = look.n <= kMaxRememberedN ? 64 : 3;  // a field for each of them is kept
  for (int more = 1; more <= std::max(asked, too_many); ++more) {
    for (int made : {asked - more, asked + more}) {
      if (made < 0 || made > asked + too_many) continue;
      if (!agree(look.sweeps.after(made), look.found, look.n, std::max(asked, made))) continue;
      // The last of a graph's sweeps may have written main's other field.
      const bool other = graph && made > asked;
      if (other && same_residual(look.said(asked), look.sweeps.residual(made + 1))) ++made;
      Answer answer("other_number_of_sweeps");
      answer.with("asked", counted(asked, "sweep"))
          .with("made", counted(made, "sweep"))
          .with("fewer", made < asked);
      // Sweeps of a graph have pointers of their own: if main's are others, some seem to be
      // missing.
      const bool sum_is_right = same_residual(look.said(asked), look.sweeps.residual(asked));
      if (graph && made == asked - 1 && sum_is_right) {
        answer.rule = "pass_takes_the_other_field";
        return answer;
      }
      if (graph && made < asked - 1) return {};
      if (made < asked && sum_is_right) answer.rule = "result_of_a_pass_is_dropped";
      return answer;
    }
  }
  return {};
}

/// Whether every point, the boundary's too, has the right value times one power of 2: the factors
/// 1/4 of the sweeps of a pass are some too few, or too many, or others.
Answer factor_of_a_pass(const Evidence& evidence) {
  const FieldLook* look = evidence.pass() ? evidence.pass() : evidence.field();
  if (!look) return {};
  const Field &right = look->expected, &found = look->found;
  int power = 0;  // of 2
  for (std::size_t k = 0; k < right.size(); ++k) {
    if (power == 0 && right[k] != 0) {
      power = static_cast<int>(std::lround(std::log2(std::abs(found[k] / right[k]))));
      if (power == 0) return {};
    }
    if (found[k] != std::ldexp(right[k], power)) return {};
  }
  if (power == 0) return {};
  return Answer("factor_of_other_sweeps")
      .with("begin", evidence.pass() ? "After" : "after")
      .with("pass", counted(look->first, "sweep"))
      .with("factor", power % 2 == 0 ? format("4^%d", power / 2) : format("2^%d", power));
}

// ---- Where it is wrong

/// Whether the wrong points hold what the new field began with.
bool not_stored(const FieldLook& look) {
  return look.all_of(look.cells, [&](int i, int j) {
    return look.near(look.at(look.start_new, i, j), look.at(look.found, i, j));
  });
}

/// Whether only points near the boundary are wrong, no farther from it than the sweeps reach.
Answer boundary_in_between(const FieldLook& look) {
  const int n = look.n, sweeps = look.first;
  if (n <= 4 * sweeps + 4) return {};
  bool alone[4] = {};  // a wrong point is near this side, and near no other
  const bool all_near = look.all_of(look.cells, [&](int i, int j) {
    const bool near[4] = {i <= sweeps, n - 1 - i <= sweeps, j <= sweeps, n - 1 - j <= sweeps};
    const int count = near[0] + near[1] + near[2] + near[3];
    for (int k = 0; count == 1 && k < 4; ++k) alone[k] |= near[k];
    return count > 0;
  });
  const int sides = static_cast<int>(std::count(alone, alone + 4, true));
  if (!all_near || sides == 0 || not_stored(look)) return {};
  return Answer("boundary_between_two_sweeps")
      .with("where", sides_in_words(alone))
      .with("itself", look.cells.boundary().count() > 0)
      .with("several", sides % 4 > 1);
}

/// What lies at the same places of every strip, or of every chunk of rows: one number of lines from
/// one group of neighbouring lines to the next. 0: they do not lie so.
int distance_of_groups(const std::vector<int>& lines, int widest) {
  std::vector<int> begins;
  for (std::size_t k = 0; k < lines.size(); ++k) {
    if (k == 0 || lines[k] > lines[k - 1] + widest) begins.push_back(lines[k]);
  }
  if (begins.empty()) return 0;
  if (begins.size() == 1) return begins[0];
  const int distance = begins[1] - begins[0];
  for (std::size_t k = 2; k < begins.size(); ++k) {
    if (begins[k] - begins[k - 1] != distance) return 0;
  }
  return distance > 2 * widest ? distance : 0;
}

/// The interior's columns (or rows) in which a point is wrong.
std::vector<int> wrong_lines(const Cells& cells, char letter) {
  const std::vector<int> wrong = counts_of(cells, letter);
  std::vector<int> lines;
  for (int k = 0; k < cells.n(); ++k) {
    if (wrong[k] > 0) lines.push_back(k);
  }
  return lines;
}

/// Whether only columns at the ends of strips are wrong, or only rows at the ends of what a warp
/// marches through.
Answer ends(const FieldLook& look) {
  if (look.cells.boundary().count() > 0) return {};
  const std::vector<int> columns = wrong_lines(look.cells, 'i');
  const std::vector<int> rows = wrong_lines(look.cells, 'j');
  if (columns.size() == rows.size()) return {};
  const bool of_strips = columns.size() < rows.size();
  const std::vector<int>& fewer = of_strips ? columns : rows;
  if (!of_strips && not_stored(look) && fewer.front() > look.n - 2 - look.first) {
    return Answer("march_ends_too_early").with("lines", lines_that_are(fewer, 'j'));
  }
  if (distance_of_groups(fewer, 2 * look.first) == 0) return {};
  return Answer(of_strips ? "strips_keep_too_many_columns" : "marches_keep_too_many_rows")
      .with("lines", lines_that_are(fewer, of_strips ? 'i' : 'j'))
      .with("between_warps", true);
}

/// The residuals of passes: that of another sweep than the last one, of several, or times a factor.
Answer sum_of_pass(const Evidence& evidence) {
  const bool asked = evidence.subject == Subject::kPassSum || evidence.subject == Subject::kPass;
  const Case& run = evidence.wrong.run;
  if (!asked || evidence.wrong.field || run.n > kMaxDiagnosedN) return {};
  const auto seen = evidence.after(run.iterations);
  if (!seen || seen->residuals.empty()) return {};
  Sweeps right(lab::Problem(run.problem, run.n));
  const auto any = [&](auto test) {
    return std::any_of(seen->residuals.begin(), seen->residuals.end(),
                       [&](const auto& residual) { return test(residual.value); });
  };
  // Whether predict(first, last), of the sweeps from one residual to the next, gives each of them.
  const auto explained = [&](auto predict) {
    int before = 0;
    for (const Record::Residual& residual : seen->residuals) {
      if (!same_residual(residual.value, predict(before + 1, residual.iteration))) return false;
      before = residual.iteration;
    }
    return true;
  };
  // What nothing has written is not a number on the CPU, and 0 on most GPUs.
  const bool none = any([](double value) { return std::isnan(value); });
  if (evidence.words.has(kLateSum) && (none || any([](double value) { return value == 0; }))) {
    return Answer("sum_comes_to_another_place").with("is", none ? "not a number" : "0");
  }
  const auto together = [&](int first, int last) {
    double sum = 0;
    for (int k = first; k <= last; ++k) sum += right.residual(k) * right.residual(k);
    return std::sqrt(sum);
  };
  const std::vector<Record::Residual>& all = seen->residuals;
  // If another run says other residuals, it is a race.
  const auto again = evidence.patient.ask(run, true);
  bool early = all.size() > 1 && again && again->residuals.size() == all.size();
  for (std::size_t k = 0; early && k < all.size(); ++k) {
    early = same_residual(again->residuals[k].value, all[k].value);
  }
  for (std::size_t k = 1; k < all.size(); ++k) {
    early &= same_residual(all[k - 1].value, right.residual(all[k].iteration));
  }
  if (early) return Answer("residual_of_another_iteration").with("of_pass", true);
  const char* what = nullptr;
  if (explained(together)) {
    what =
        "the changes of all sweeps since the last check are in the sum, and not only the last "
        "one's";
  } else if (explained([&](int first, int) { return right.residual(first); })) {
    what = "the residual of a pass is that of its first sweep, not of its last";
  }
  return what ? Answer("residual_of_other_sweeps").with("what", what) : Answer();
}

/// Whether the field is right after whole passes, and wrong after some that are followed by fewer
/// sweeps than a pass has.
bool only_the_rest(const Evidence& evidence) {
  Case run = evidence.wrong.run;
  const int pass = run.check_every;
  if (!evidence.pass() || pass < 2) return false;
  const auto right_after = [&](int sweeps) {
    run.iterations = sweeps;
    const auto seen = evidence.patient.ask(run);
    return seen && agree(evidence.pass()->sweeps.after(sweeps), seen->field, run.n, sweeps);
  };
  for (const int passes : {1, 2, 3}) {
    if (!right_after(passes * pass)) return false;
  }
  return !right_after(pass + 1) || !right_after(2 * pass + 1) || !right_after(3 * pass + 1);
}

Answer of_a_pass(const Evidence& evidence) {
  if (evidence.subject != Subject::kPass) return {};
  return Answer("several_sweeps_in_a_pass")
      .with("field", evidence.wrong.field)
      .with("rest", only_the_rest(evidence));
}

}  // namespace

// clang-format off
const Family kPassMistakes = {
    {"pass_takes_the_other_field", Strength::kModel, with(kGraph), of_pass<other_count>,
     "After {asked} the field is that of {made}: the wrong one of the two fields is taken for the new one",
     {"where main's pointers change roles: after an odd number of sweeps, and only then; a graph keeps the pointers "
      "that it was captured with", "which pointer run.finish copies from, and when that was set"}},
    {"result_of_a_pass_is_dropped", Strength::kModel, kAnyProgram, of_pass<other_count>,
     "After {asked} the residual is right, and the field is that of {made}: a pass is performed, but its result "
     "does not become the old field",
     {"{handover}: {?passes|once after each pass, however many sweeps it has (twice is as good as never)|after each "
      "sweep of a pass, also after the last one}; or, if a kernel performs several sweeps, what it stores at its end: "
      "the values of the last one (of two tiles that take turns, those written last)"}},
    {"other_number_of_sweeps", Strength::kModel, kAnyProgram, of_pass<other_count>,
     "After {asked} the field is that of {made}: a pass performs {?fewer|fewer|more} than it counts, or "
     "{?fewer|begins with the same field as the pass before, or the sweeps that are left, fewer than a pass has, are "
     "not all performed|a whole pass is performed when fewer sweeps are left}",
     {"the loops over the sweeps of a pass, and over the passes: how many are performed, how many are counted, and how "
      "many are left",
      "{?tile|{?!graph|a tile with two buffers: they change roles after each sweep}}",
      "{?fewer|{handover}: after each pass{?!graph|, so that the next one reads what this one wrote}}"}},
    {"factor_of_other_sweeps", Strength::kModel, with(kPasses), factor_of_a_pass,
     "{begin} {pass} every point, the boundary included, has {factor} times the correct value",
     {"the factor by which the values of a pass are multiplied at its end: 1/4 for each of its sweeps, which is 1 / "
      "2^(2 * kSweeps)"}},
    {"boundary_between_two_sweeps", Strength::kShape, without(kGraph), of_pass<boundary_in_between>,
     "In a pass of several, only {?itself|{where} and points next to {?several|them|it}|points next to {where}} are "
     "wrong: in {?itself|some of its sweeps|one of the sweeps in between}, {where} {?several|do not keep their values, "
     "or the points next to them keep theirs|does not keep its values, or the points next to it keep theirs}",
     {"where the boundary's points keep their values, and only they: after every sweep of a pass, not only after the "
      "last one{?ring|; each sweep is one row behind the previous one}",
      "{?!ring|whether the launch grid has blocks for the last rows and columns: a block that performs more sweeps "
      "stores fewer points}"}},
    {"strips_keep_too_many_columns", Strength::kShape, without(kGraph), of_pass<ends>,
     "In a pass of several, only {lines} wrong: they lie where two {?strips|strips|blocks} meet. With each sweep one "
     "more column at each end {?strips|of a warp's strip|of a block's tile} is no longer right, but these columns are "
     "stored anyway",
     {"kHalo: at least as many columns at each end of a strip as a pass has sweeps; and which columns a strip stores "
      "(kKept), and where they begin"}},
    {"march_ends_too_early", Strength::kShape, without(kGraph), of_pass<ends>,
     "In a pass of several, only {lines} wrong: nothing is stored there",
     {"where the rounds of a march end: each sweep is one row behind the previous one, so after the last row has been "
      "read the march goes on for as many rows as a pass has sweeps"}},
    {"marches_keep_too_many_rows", Strength::kShape, without(kGraph), of_pass<ends>,
     "In a pass of several, only {lines} wrong: they lie where one {?strips|warp|block}'s rows end and another's begin",
     {"{?strips|the rows that a warp marches through: from as many below its first one as a pass has sweeps, to as "
      "many above its last one|the rows that a block computes in each sweep, one fewer at each end than in the one "
      "before, and which of them it stores}"}},
    {"sum_comes_to_another_place", Strength::kModel, kAnyProgram, sum_of_pass,
     "{wrong_pass}the field is right, and the residual is {is}: the host reads a place to which no sum was copied, or "
     "a sum to which no kernel has added",
     {"which sum each pass adds to, and which one is copied, if there are several; where on the host it is copied "
      "to{?graph|, also by a graph,} and which place is read when that pass is "
      "over: it has to be the same one, and no local variable of a function that has returned; and whether all of it "
      "is copied, sizeof(double) bytes",
      "where the sum is set to 0, all sizeof(double) bytes of it; and whether the sweeps that are left at the end, "
      "fewer than a pass has, are performed, and their changes summed"}},
    {"residual_of_other_sweeps", Strength::kModel, kAnyProgram, sum_of_pass,
     "{wrong_pass}{what}",
     {"which sweep's changes are in the sum: only those of the last one before a check, not of an earlier pass or of "
      "an earlier sweep of the last pass; how many sweeps a pass performs, and the sweeps that are left at the end, "
      "fewer than a pass has"}},
    {"several_sweeps_in_a_pass", Strength::kSymptom, kAnyProgram, of_a_pass,
     "{?rest|Whole passes are right, too. What is wrong is the sweeps that are left over at the end, fewer than a pass "
     "has|{?field|What is wrong is how several sweeps form one pass|In longer passes the field is right, too, and only "
     "the residual is wrong}}",
     {"{?rest|what performs the sweeps that are left over: which of the two fields they begin with, after an odd and "
      "after an even number of sweeps; and where their result and their sum go}",
      "{?check_kernel|whether the kernel without the sum, whose kCheck is false, writes every point, too: no `return` "
      "or `if` on kCheck comes before that}",
      "{?field|{?graph|how many sweeps a pass performs: as many as main counts; and which fields each launch of a "
      "graph reads and writes: after an odd number of them f_old and f_new have changed roles, and a graph keeps the "
      "pointers that it was captured with|what each sweep of a pass reads: four neighbours, all as the sweep before "
      "has left them}}",
      "{?field|{?!graph|{?tile|a tile that performs several sweeps: its halo has as many points on each side as it "
      "performs sweeps, the boundary keeps its values after each, and there is a barrier between them}}}",
      "{?field|{?passes|what a pass does between its first and its last sweep: the boundary keeps its values after "
      "each, each is one row behind the previous one, and a strip loses a column at each end; and the factor by which "
      "a pass multiplies at its end}}",
      "which sweep's changes are in the sum (only the last one's, whether it ends a whole pass or is one of those that "
      "are left over), and the sweeps that are left at the end, fewer than a pass has"}},
};
// clang-format on

}  // namespace validate
