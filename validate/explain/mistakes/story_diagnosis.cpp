// What is wrong with a field that follows a story: a cause that predicts the whole field, iteration
// after iteration.

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "explain/field_look.h"
#include "run/text.h"
#include "source/source_code.h"

namespace validate {
namespace {

constexpr int kLongestStory = 3;  // iterations that are looked at to tell one cause from another

using Look = FieldLook;

/// A cause, as a clause, and the field that it leads to after k iterations.
struct Story {
  std::string cause, look_at;
  std::function<const Field&(int)> field;
};

/// Whether the program's field is the story's after 1, 2 and 3 iterations.
bool is_told(const Look& look, const Story& story) {
  int chapters = 0;
  for (int k = 1; k <= kLongestStory; ++k) {
    const Observation* seen = look.interview.after(k);
    if (!seen || seen->iterations != k) break;
    if (!agree(story.field(k), seen->field, look.n, k + 1)) return false;
    ++chapters;
  }
  return chapters >= 2;
}

/// The field never changes at all.
Story standing_still(const Look& look) {
  auto start = [&look](int) -> const Field& { return look.start_old; };
  const double first = look.said(1), second = look.said(2);
  if (first == 0 && second == 0) {
    return {"the field stays as it was at the start, and every residual is 0: no sweep is made",
            never_launched(look) +
                (look.words.has_passes()
                     ? "; and whether sweeps are still made where fewer are left than a pass has"
                     : "") +
                "; then whether the new field becomes the old one",
            start};
  }
  if (look.residual_is_right(1) && std::fabs(second - first) <= 1e-6 * first) {
    return {std::string(
                "every iteration repeats the first: the new field never becomes the old one. ") +
                (look.words.swaps() ? "The swap is missing, or it exchanges something else, or "
                                      "something undoes it (a second swap, a "
                                      "copy that was left)"
                                    : "Either the copy is missing, or it goes the wrong way, or it "
                                      "reaches no point of the interior"),
            look.words.swaps()
                ? "whether " + look.words.handover() + " comes after each " +
                      (look.words.has_passes() ? "pass" : "sweep") +
                      ", and exchanges main's own pointers"
                : "the call in the loop of main, copy_field(f_old, f_new, n), and to and from in " +
                      look.words.copy() + "; and how much it copies: " +
                      (look.words.has_memcpy() && !look.words.launches_copy()
                           ? "n * n * sizeof(float) bytes"
                       : look.words.copy_on_gpu()
                           ? "all points (its grid, its bounds). A function that swaps pointers "
                             "which it was given by value swaps its own"
                           : "all points"),
            start};
  }
  return {"the field stays as it was at the start: the result of the sweeps never reaches it",
          "which field the sweep writes, and " + look.words.handover(), start};
}

/// The sweep writes nothing: the copy brings the starting values of the other field.
Story nothing_written(const Look& look) {
  auto start = [&look](int) -> const Field& { return look.start_new; };
  if (look.said(1) == 0) {
    return {
        "the sweep changes no point, and every residual is 0: either it does not run at all, "
        "or no point passes its bounds",
        never_launched(look), start};
  }
  Sweeps from_new(look.n, look.start_new);
  if (std::fabs(look.said(1) - from_new.residual(1)) <= 1e-6 * from_new.residual(1)) {
    return {
        "the sweep reads f_new and writes f_old: the two have each other's place, and the copy "
        "then overwrites the result",
        "the arguments of " + look.words.sweep() +
            (look.words.sweep_on_gpu() ? " where it is launched" : " where it is called") +
            ", in the order of its parameters: f_new, which it writes, then f_old, which it reads",
        start};
  }
  return {"the sweep computes, but no new value reaches the new field",
          "the line f_new[idx(i, j, n)] = value in " + look.words.sweep(), start};
}

/// Starting values that are not the problem's.
void add_wrong_starts(const Look& look, std::vector<std::pair<Story, Field>>* starts) {
  const int n = look.n;
  auto add = [&](const std::string& cause, const std::string& look_at, Field start) {
    if (start != look.start_old) starts->push_back({{cause, look_at, nullptr}, std::move(start)});
  };
  const std::string initialize = "initialize_field, and its two calls in main";
  add("the sweeps are right, but they begin with the starting values of the other field",
      "the calls of initialize_field in main: f_old gets problem.initial_old(), f_new "
      "problem.initial_new()",
      look.start_new);
  Field no_interior = look.start_old, no_boundary = look.start_old;
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      const bool boundary = i == 0 || j == 0 || i == n - 1 || j == n - 1;
      (boundary ? no_boundary : no_interior)[static_cast<std::size_t>(j) * n + i] = 0.0f;
    }
  }
  add("the sweeps are right, but the interior of f_old begins with 0 everywhere", initialize,
      no_interior);
  add("the sweeps are right, but the boundary of f_old begins with 0", initialize, no_boundary);
  add("the sweeps are right, but f_old begins with 0 everywhere", initialize,
      Field(look.start_old.size(), 0.0f));
  for (auto kind :
       {lab::ProblemKind::kLaplace, lab::ProblemKind::kProbe, lab::ProblemKind::kHarmonic}) {
    if (kind == look.wrong.run.problem) continue;
    add(format("it solves %s, and --problem says %s", lab::problem_name(kind),
               lab::problem_name(look.wrong.run.problem)),
        "main: the problem is lab::Problem(options)",
        field_of(lab::Problem(kind, n, 1).initial_old(), n));
  }
}

/// The stories that the program's field tells.
struct Told {
  const Look& look;
  std::vector<Story> stories;
  void listen(const Story& story) {
    // Its words alone: the field may be made of what lives no longer than this call.
    if (is_told(look, story)) stories.push_back({story.cause, story.look_at, nullptr});
  }
};

/// Gives `to`, n x n, the boundary of `from`.
void copy_boundary(const Field& from, int n, Field* to) {
  for (int k = 0; k < n; ++k) {
    for (std::size_t p : {std::size_t(k), std::size_t(n) * (n - 1) + k, std::size_t(n) * k,
                          std::size_t(n) * k + n - 1}) {
      (*to)[p] = from[p];
    }
  }
}

const std::string kCaptured =
    "what stands between cudaStreamBeginCapture and cudaStreamEndCapture: there the sweeps of a "
    "pass have to be launched, into the stream that captures";

/// Those of two fields that change roles.
void listen_to_swaps(const Look& look, Told* told) {
  Sweeps& right = look.sweeps;
  told->listen(
      {"after an even number of sweeps the field is right, after an odd one it is that of the "
       "sweep before: the sweeps change the roles of the fields, and the pointers that main has "
       "do not follow; or the result is copied from a pointer that was set before the loop",
       (look.words.has_strips()
            ? look.words.handover() + ": it must change main's own pointers"
            : "where std::swap(f_old, f_new) must be done in main: wherever an odd number of "
              "sweeps was made; and which pointer run.finish copies from"),
       [&](int k) -> const Field& { return right.after(k - k % 2); }});
  if (look.start_new == look.start_old) return;
  told->listen(
      {"after an odd number of sweeps the field is right, after an even one it is that of the "
       "sweep before: the sweeps are right, and the wrong one of the two fields is recorded",
       "run.finish in main: it copies f_old, which after each exchange is the field that was "
       "written last",
       [&](int k) -> const Field& { return right.after(k % 2 ? k : k - 1); }});
  told->listen(
      {"only the first sweep's result becomes the old field; all later ones repeat the second "
       "sweep",
       "whether " + look.words.handover() + " comes after each sweep, not only once",
       [&](int) -> const Field& { return right.after(1); }});
  told->listen(
      {"every sweep reads the field of the start and writes the same other one, while main's "
       "pointers change roles",
       look.words.has_graph()
           ? look.words.handover() +
                 ", also while a graph is captured: the second graph reads what the first one "
                 "writes; and that the two passes take turns"
           : "the arguments of " + look.words.sweep() + " where it is launched, and " +
                 look.words.handover(),
       [&](int k) -> const Field& { return right.after(k % 2); }});
  if (look.words.has_graph()) {
    told->listen(
        {"two passes are made before the first one is asked for, and none after that: "
         "work that is captured is noted and not run, and these sweeps ran",
         kCaptured, [&](int k) -> const Field& { return right.after(k % 2 ? 1 : 2); }});
  }
  // Memory that nobody had before holds 0.
  const Field never_written(look.start_old.size(), 0.0f);
  std::deque<Field> one_given = {look.start_new};
  told->listen(
      {"f_old gets the starting values that are f_new's, and f_new gets none: its boundary "
       "holds what was in memory before, here 0",
       "the calls of initialize_field in main: f_old gets problem.initial_old(), f_new "
       "problem.initial_new()",
       [&](int k) -> const Field& {
         for (int made = static_cast<int>(one_given.size()); made <= k; ++made) {
           Reference reference(look.n, one_given.back());
           reference.sweep();
           one_given.push_back(field_of(reference));
           copy_boundary(made % 2 == 1 ? never_written : look.start_new, look.n, &one_given.back());
         }
         return one_given[k];
       }});
  told->listen({"no sweep is made at all: the fields change roles, and keep their starting values",
                (look.words.has_graph() ? kCaptured + "; or " : "") + never_launched(look) +
                    "; and how many sweeps " + look.words.host() +
                    " makes: as many as it is asked for, one too",
                [&](int k) -> const Field& { return k % 2 ? look.start_new : look.start_old; }});
}

/// A pass that makes as many sweeps as usual, where one alone was asked for.
void listen_to_whole_passes(const Look& look, Told* told) {
  constexpr int kMost = 48;
  if (!look.words.has_checks() || look.n > kMaxDiagnosedN / 4) return;
  const Observation* seen = look.interview.after(1);
  for (int each = 3; seen && each <= kMost; ++each) {
    // After an even number, main's pointers change roles all the same: it counts one, which is odd.
    const int other_role = look.words.has_graph() && each % 2 == 0 ? 1 : 0;
    if (!agree(look.sweeps.after(each - other_role), seen->field, look.n, each)) continue;
    told->listen({format("asked for one sweep (--check-every 1), a pass makes %d: a constant "
                         "stands where the number of "
                         "sweeps that were asked for belongs",
                         each),
                  "the number of sweeps that a pass " +
                      std::string(look.words.has_graph() ? "is captured with" : "makes") +
                      ": options.check_every, and fewer where fewer are left",
                  [&look, each, other_role](int k) -> const Field& {
                    return look.sweeps.after(each * k - other_role * (k % 2));
                  }});
  }
}

/// What the wrong points of the boundary began with, if one rule gives all of them.
std::string wrong_start(const Look& look) {
  const int n = look.n;
  struct Rule {
    std::string words;
    std::function<int(int)> i, j;  // of the point whose value is taken
  };
  const auto same = [](int k) { return k; };
  const auto mirrored = [n](int k) { return n - 1 - k; };
  std::vector<Rule> rules = {
      {"the point mirrored from west to east, (n - 1 - i, j)", mirrored, same},
      {"the point mirrored from south to north, (i, n - 1 - j)", same, mirrored},
      {"the point turned around, (n - 1 - i, n - 1 - j)", mirrored, mirrored}};
  for (const int by : {-1, 1}) {
    const auto shifted = [n, by](int k) { return std::min(std::max(k + by, 0), n - 1); };
    rules.push_back({format("point (i%+d, j)", by), shifted, same});
    rules.push_back({format("point (i, j%+d)", by), same, shifted});
    rules.push_back({format("point (i%+d, j%+d)", by, by), shifted, shifted});
  }
  for (const int end : {0, n - 1}) {
    const auto fixed = [end](int) { return end; };
    rules.push_back({format("point (%d, j)", end), fixed, same});
    rules.push_back({format("point (i, %d)", end), same, fixed});
  }
  for (const Rule& rule : rules) {
    if (look.all_of(look.ring, [&](int i, int j) {
          const int a = rule.i(i), b = rule.j(j);
          const float found = look.at(look.found, i, j);
          return look.at(look.start_old, a, b) == found || look.at(look.start_new, a, b) == found;
        })) {
      return "point (i, j) begins with the value of " + rule.words;
    }
  }
  double least = INFINITY, most = -INFINITY;  // factors
  float low = INFINITY, high = -INFINITY;     // values
  std::string example;
  look.all_of(look.ring, [&](int i, int j) {
    const float found = look.at(look.found, i, j), right = look.at(look.start_old, i, j);
    const double factor = found / static_cast<double>(right);
    least = std::min(least, factor), most = std::max(most, factor);
    low = std::min(low, found), high = std::max(high, found);
    if (example.empty()) {
      example = format("point (%d, %d) begins with %.6g, right is %.6g", i, j, found, right);
    }
    return true;
  });
  if (low == high) return format("all these points begin with %.6g", low);
  if (most - least < 1e-5 * std::fabs(most)) {
    return format("a point begins with %.6g times its value", most);
  }
  return example;
}

}  // namespace

/// Whether idx takes a row for a few points shorter than it is, so that its last points have the
/// places of the next row's first ones.
Diagnosis ask_about_short_rows(const Look& look) {
  constexpr int kMost = 4;
  const int n = look.n;
  // A copy that takes rows for shorter ones leaves the residual of the first sweep right.
  if (look.problem.kind() != lab::ProblemKind::kProbe || look.residual_is_right(1)) return {};
  for (const bool i_inner : {true, false}) {
    const auto at = [&](int inner, int outer) {
      return i_inner ? look.at(look.found, inner, outer) : look.at(look.found, outer, inner);
    };
    for (int by = 1; by <= kMost; ++by) {
      bool same = true;
      for (int outer = 0; same && outer + 1 < n; ++outer) {
        same = at(n - 1, outer) == at(by - 1, outer + 1);
      }
      if (!same) continue;
      const char* const line = i_inner ? "row" : "column";
      return {format("the last %spoint%s of a %s and the first of the next %s have the same place "
                     "in memory: idx takes a %s for %d points long, and it has %d",
                     by == 1 ? "" : format("%d ", by).c_str(), by == 1 ? "" : "s", line, line, line,
                     n - by, n),
              {"idx: from one " + std::string(line) +
               " to the next it is n places (or the pitch, where rows are padded)"}};
    }
  }
  return {};
}

/// Whether each sweep makes of the field that was found before it what is found after it, so that
/// only the field that the first one began with was wrong (or what is handed over as the result).
Diagnosis ask_about_the_start(const Look& look) {
  // What the first sweep makes of right values is right, whatever the other field began with.
  if (look.first != 1 || look.inside.count() == 0) return {};
  if (const Diagnosis rows = ask_about_short_rows(look); rows.known()) return rows;
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
    if (look.words.swaps()) {
      const Observation* other = k == 3 ? look.interview.after(1) : seen;
      copy_boundary(other->field, look.n, &made_of_it);
    }
    if (!agree(made_of_it, seen->field, look.n, k)) return {};
    if (k == 2) said = look.said(2), made = sweep.residual(1);
    before = seen;
  }
  if (!(made > 0)) return {};
  const bool of_field = std::fabs(said - made) <= 1e-5 * made;
  int sides = 0;
  const bool boundary = look.ring.count() > 0;
  const std::string where = sides_of(look, &sides);
  const std::string sweeps = "each sweep makes of the field before it what it should";
  const std::string how = !boundary ? "its interior" : where;
  const std::string values = boundary ? ": " + wrong_start(look) : "";
  if (!of_field && look.residual_is_right(2)) {
    return {sweeps + ", and the residuals are right: the result is not handed over as it is (" +
                how + " is wrong" + values + ")",
            {"what run.finish is given in main: which field, and which of its rows"}};
  }
  if (!of_field) return {};
  if (look.residual_is_right(1)) {
    return {sweeps +
                ", and the residuals are right. So either the field begins with values that "
                "belong to other points, or the result is handed over in another order (" +
                how + " is wrong" + values + ")",
            {"start(i, j) in initialize_field: point (i, j) stands at idx(i, j, n)",
             "what run.finish is given in main"}};
  }
  return {sweeps + ", but the first one begins with wrong starting values (" + how + values + ")",
          {std::string("initialize_field: each point (i, j) gets start(i, j), once, i and j from 0 "
                       "to n - 1") +
           (look.words.has_slabs() ? ", where j is the whole field's row, and not the rank's own"
                                   : "") +
           "; and that nothing changes the values before the first sweep"}};
}

std::string never_launched(const Look& look) {
  if (!look.words.sweep_on_gpu()) return "the loops in " + look.words.sweep();
  // A call behind another statement; a definition stands behind the type that it returns.
  const std::string code = code_only(look.interview.patient().source);
  for (const char* end : {";", "{", "}"}) {
    if (code.find(end + look.words.sweep() + "(") == std::string::npos) continue;
    return "the call of " + look.words.sweep() + " in " + look.words.host() +
           ": without <<<grid, block>>> in front of its arguments it is no launch. nvcc refuses "
           "it; "
           "the CPU's compiler does not";
  }
  return "the launch of " + look.words.sweep() + " in " + look.words.host() +
         " (is it there? was it accepted: cudaGetLastError() right behind it, at most 1024 threads "
         "a block? has its grid enough blocks?), and the `if` in the kernel" +
         (look.words.has_strips() ? "; and which rows a warp stores: all of its own, with no row "
                                    "between one warp's and the next one's"
                                  : "");
}

/// Whether the field is suddenly that of some sweeps before.
Diagnosis ask_whether_set_back(const Look& look) {
  for (int before = 0; before + 2 <= look.first; ++before) {
    // Of two fields that change roles, the other one holds what was two sweeps before.
    if (look.words.swaps() && before == look.first - 2) continue;
    if (!agree(look.sweeps.after(before), look.found, look.n, look.first)) continue;
    return {format("up to iteration %d the field is right, after iteration %d it is that of ",
                   look.first - 1, look.first) +
                (before == 0 ? std::string("the start") : format("iteration %d", before)) +
                " again: something puts it back",
            {"what writes the field besides the sweep and the copy (or swap), and when: starting "
             "values come before the loop, and only once"}};
  }
  return {};
}

Diagnosis ask_for_story(const Look& look) {
  Told told{look, {}};
  Sweeps& right = look.sweeps;
  told.listen(standing_still(look));
  if (look.start_new != look.start_old) told.listen(nothing_written(look));
  told.listen(
      {"the field is that of one iteration before",
       "run.finish in main: it must get the field that the last sweep wrote; and whether the "
       "new field becomes the old one before the next sweep",
       [&](int k) -> const Field& { return right.after(k - 1); }});
  if (look.words.swaps()) listen_to_swaps(look, &told);
  told.listen(
      {"the field is one sweep ahead: either one sweep too many is made, or the first is not "
       "counted",
       "the loop in main, and what comes before it",
       [&](int k) -> const Field& { return right.after(k + 1); }});
  told.listen({"each iteration makes two sweeps, and counts one", "the loop in main",
               [&](int k) -> const Field& { return right.after(2 * k); }});
  listen_to_whole_passes(look, &told);
  Sweeps other(look.n, look.start_new);
  if (look.start_new != look.start_old) {
    told.listen(
        {std::string("the sweeps begin a step late, with the starting values of the new field: ") +
             (look.words.swaps() ? "the fields change roles" : "the copy comes") +
             " before the sweep" +
             (look.words.has_graph() ? ", or the graph that was captured second, with the fields' "
                                       "roles exchanged, is launched first"
                                     : ""),
         (look.words.has_graph() ? "that graphs are launched in the order in which they were "
                                   "captured; and "
                                 : "") +
             std::string("the order in the loop of main: first ") + look.words.host() + ", then " +
             (look.words.swaps() ? look.words.handover() : "copy_field"),
         [&](int k) -> const Field& { return other.after(k - 1); }});
  }
  Field flipped;
  told.listen(
      {"the field is the right one with i and j exchanged. Either the result is recorded so, or "
       "the starting values are given so",
       look.words.swaps()
           ? "run.finish in main: it copies whole rows, from f_old + idx(0, j, n) on; and start(i, "
             "j) in initialize_field_kernel"
           : "run.finish(f_old, idx(1, 0, n), idx(0, 1, n)) in main: first the distance in memory "
             "from i to i + 1, then from j to j + 1; and start(i, j) in initialize_field",
       [&](int k) -> const Field& { return flipped = transposed(right.after(k), look.n); }});
  std::vector<std::pair<Story, Field>> starts;
  add_wrong_starts(look, &starts);
  for (auto& [story, start] : starts) {
    Sweeps from_there(look.n, start);
    story.field = [&](int k) -> const Field& { return from_there.after(k); };
    told.listen(story);
  }
  // Stories that end alike (on `laplace` both fields begin alike) cannot be told apart.
  Diagnosis diagnosis;
  std::vector<std::string> causes;
  for (const Story& story : told.stories) {
    causes.push_back(story.cause);
    diagnosis.look_at.push_back(story.look_at);
  }
  diagnosis.cause = causes.size() > 1 ? "either " + join(causes, "or") : join(causes);
  return diagnosis;
}

}  // namespace validate
