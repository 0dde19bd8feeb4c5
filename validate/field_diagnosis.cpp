// What is wrong with a field: hypotheses, each of which predicts the field that was found.

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "field_look.h"
#include "stencil_fit.h"
#include "text.h"

namespace validate {
namespace {

constexpr int kLongestStory = 3;  // iterations that are looked at to tell one cause from another
constexpr int kSmallestBlock = 8;

using Look = FieldLook;

// ---- Stories: the whole field, iteration after iteration

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

std::string never_launched(const Look& look) {
  if (!look.words.sweep_on_gpu()) return "the loops in " + look.words.sweep();
  return "the launch of " + look.words.sweep() + " in " + look.words.host() +
         " (is it there? was it accepted: cudaGetLastError() right behind it, at most 1024 threads "
         "a block? has its grid enough blocks?), and the `if` in the kernel" +
         (look.words.has_strips() ? "; and which rows a warp stores: all of its own, with no row "
                                    "between one warp's and the next one's"
                                  : "");
}

/// The field never changes at all.
Story standing_still(const Look& look) {
  auto start = [&look](int) -> const Field& { return look.start_old; };
  const double first = look.said(1), second = look.said(2);
  if (first == 0 && second == 0) {
    return {"the field stays as it was at the start, and every residual is 0: no sweep is made",
            never_launched(look) + "; then whether the new field becomes the old one", start};
  }
  if (look.residual_is_right(1) && std::fabs(second - first) <= 1e-6 * first) {
    return {std::string(
                "every iteration repeats the first: the new field never becomes the old one. ") +
                (look.words.swaps() ? "The swap is missing, or it exchanges something else"
                                    : "Either the copy is missing, or it goes the wrong way"),
            look.words.swaps()
                ? "whether " + look.words.handover() + " comes after each " +
                      (look.words.has_passes() ? "pass" : "sweep") +
                      ", and exchanges main's own pointers"
                : "the call in the loop of main, copy_field(f_old, f_new, n), and to and from in " +
                      look.words.copy(),
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

Diagnosis ask_for_story(const Look& look) {
  std::vector<Story> told;
  auto listen = [&](const Story& story) {
    if (is_told(look, story)) told.push_back(story);
  };
  Sweeps& right = look.sweeps;
  listen(standing_still(look));
  if (look.start_new != look.start_old) listen(nothing_written(look));
  listen({"the field is that of one iteration before",
          "run.finish in main: it must get the field that the last sweep wrote; and whether the "
          "new field becomes the old one before the next sweep",
          [&](int k) -> const Field& { return right.after(k - 1); }});
  if (look.words.swaps()) {
    listen(
        {"after an even number of sweeps the field is right, after an odd one it is that of the "
         "sweep before: the sweeps change the roles of the fields, and the pointers that main has "
         "do not follow",
         (look.words.has_strips()
              ? look.words.handover() + ": it must change main's own pointers"
              : "where std::swap(f_old, f_new) must be done in main: wherever an odd number of "
                "sweeps was made"),
         [&](int k) -> const Field& { return right.after(k - k % 2); }});
  }
  listen(
      {"the field is one sweep ahead: either one sweep too many is made, or the first is not "
       "counted",
       "the loop in main, and what comes before it",
       [&](int k) -> const Field& { return right.after(k + 1); }});
  listen({"each iteration makes two sweeps, and counts one", "the loop in main",
          [&](int k) -> const Field& { return right.after(2 * k); }});
  Sweeps other(look.n, look.start_new);
  if (look.start_new != look.start_old) {
    listen(
        {std::string("the sweeps begin a step late, with the starting values of the new field: ") +
             (look.words.swaps() ? "the fields change roles" : "the copy comes") +
             " before the sweep",
         "the order in the loop of main: first " + look.words.host() + ", then " +
             (look.words.swaps() ? look.words.handover() : "copy_field"),
         [&](int k) -> const Field& { return other.after(k - 1); }});
  }
  if (look.words.swaps() && look.start_new != look.start_old) {
    listen(
        {"after an odd number of sweeps the field is right, after an even one it is that of the "
         "sweep before: the sweeps are right, and the wrong one of the two fields is recorded",
         "run.finish in main: it copies f_old, which after each exchange is the field that was "
         "written last",
         [&](int k) -> const Field& { return right.after(k % 2 ? k : k - 1); }});
    listen(
        {"only the first sweep's result becomes the old field; all later ones repeat the second "
         "sweep",
         "whether " + look.words.handover() + " comes after each sweep, not only once",
         [&](int) -> const Field& { return right.after(1); }});
    listen(
        {"every sweep reads the field of the start and writes the same other one, while main's "
         "pointers change roles",
         look.words.has_graph()
             ? look.words.handover() +
                   ", also while a graph is captured: the second graph reads what the first one "
                   "writes; and that the two passes take turns"
             : "the arguments of " + look.words.sweep() + " where it is launched, and " +
                   look.words.handover(),
         [&](int k) -> const Field& { return right.after(k % 2); }});
    listen({"no sweep is made at all: the fields change roles, and keep their starting values",
            never_launched(look) + "; and how many sweeps " + look.words.host() +
                " makes: as many as it is asked for, one too",
            [&](int k) -> const Field& { return k % 2 ? look.start_new : look.start_old; }});
  }
  Field flipped;
  listen(
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
    listen(story);
  }
  // Stories that end alike (on `laplace` both fields begin alike) cannot be told apart.
  Diagnosis diagnosis;
  std::vector<std::string> causes;
  for (const Story& story : told) {
    causes.push_back(story.cause);
    diagnosis.look_at.push_back(story.look_at);
  }
  diagnosis.cause = causes.size() > 1 ? "either " + join(causes, "or") : join(causes);
  return diagnosis;
}

// ---- The boundary

/// Whether the wrong points of the boundary hold a mean of four, as if they were interior points:
/// what lies outside is 0, or what stands next in memory, in either order of the indices.
bool boundary_is_swept(const Look& look) {
  const int n = look.n;
  const auto size = static_cast<long long>(n) * n;
  auto swept = [&](int i, int j, bool i_inner) {
    auto value = [&](int a, int b) -> double {
      const long long at =
          i_inner ? static_cast<long long>(b) * n + a : static_cast<long long>(a) * n + b;
      if (at < 0 || at >= size) return 0;
      const int inner = static_cast<int>(at % n), outer = static_cast<int>(at / n);
      return i_inner ? look.at(look.before, inner, outer) : look.at(look.before, outer, inner);
    };
    const double mean =
        0.25 * (value(i + 1, j) + value(i, j + 1) + value(i - 1, j) + value(i, j - 1));
    return look.near(mean, look.at(look.found, i, j));
  };
  for (bool i_inner : {true, false}) {
    std::size_t points = 0, fits = 0;
    look.all_of(look.ring, [&](int i, int j) {
      ++points;
      fits += swept(i, j, i_inner);
      return true;
    });
    // At its ends a side may meet what nobody knows: memory behind the field.
    if (points > 2 && fits + 2 >= points) return true;
  }
  return false;
}

/// Whether the interior is what a right sweep makes of the boundary that was found.
bool boundary_was_wrong_before(const Look& look) {
  if (look.first != 1) return false;
  Field start = look.before;
  bool finite = true;
  look.all_of(look.ring, [&](int i, int j) {
    const float value = look.at(look.found, i, j);
    finite &= std::isfinite(value);
    start[static_cast<std::size_t>(j) * look.n + i] = value;
    return true;
  });
  if (finite) return agree(Sweeps(look.n, start).after(1), look.found, look.n, 1);
  // What is beside such a point is none either.
  return look.all_of(look.inside, [&](int i, int j) {
    return std::isnan(look.at(look.found, i, j)) &&
           (look.ring.has(i - 1, j) || look.ring.has(i + 1, j) || look.ring.has(i, j - 1) ||
            look.ring.has(i, j + 1));
  });
}

Diagnosis ask_about_boundary(const Look& look) {
  if (look.ring.count() == 0) return {};
  int sides = 0;
  const std::string where = sides_of(look, &sides);
  const std::string holds = sides <= 1 || sides == 4 ? " holds " : " hold ";
  auto is = [&](auto test) {
    return look.all_of(look.ring, [&](int i, int j) { return test(look.at(look.found, i, j)); });
  };
  const std::string value = is([](float v) { return v == 0.0f; }) ? "0"
                            : is([](float v) { return std::isnan(v); })
                                ? "no numbers (never written?)"
                                : "other values than at the start";
  if (look.inside.count() > 0) {
    if (!boundary_was_wrong_before(look)) return {};
    return {where + holds + value + ", and did so already when the first sweep read it",
            {"the loops (or the threads) of initialize_field: they go over all points, i and j "
             "from 0 to n - 1"}};
  }
  if (boundary_is_swept(look)) {
    return {"the sweep goes over " + where + " as if it were interior: it must keep its values",
            {look.words.bounds()}};
  }
  return {where + holds + value +
              " after a sweep, and all else is right. Either f_new never got its values there, or "
              "the sweep (or the copy) writes there",
          {"initialize_field(f_new, problem.initial_new(), n) in main, and the loops in "
           "initialize_field: all points, i and j from 0 to n - 1",
           look.words.bounds()}};
}

// ---- One array with its indices exchanged

Diagnosis ask_about_exchanged_indices(const Look& look) {
  if (look.inside.count() == 0) return {};
  const Field flipped = transposed(look.expected, look.n);
  if (look.first == 1 && agree(flipped, look.found, look.n, 1)) {
    return {
        "after the first iteration the whole field, its boundary too, has i and j exchanged, "
        "later it is something else: the copy exchanges them",
        {"the two indices in " + look.words.copy() + ": idx(i, j, n) in both"}};
  }
  if (look.ring.count() > 0) return {};
  Cells interior(look.n);
  for (int j = 1; j < look.n - 1; ++j) {
    for (int i = 1; i < look.n - 1; ++i) interior.add(i, j);
  }
  const bool exchanged = look.all_of(interior, [&](int i, int j) {
    return look.near(look.at(flipped, i, j), look.at(look.found, i, j));
  });
  if (exchanged) {
    return {
        "the interior is the right one with i and j exchanged, the boundary is not: one array's "
        "index has i and j exchanged, the others' have not",
        {"every idx(...) in " + look.words.sweep() +
         (look.words.swaps() ? "" : " and in " + look.words.copy()) +
         ": idx(i, j, n), never idx(j, i, n)"}};
  }
  // One of the neighbours alone.
  struct Neighbour {
    const char* name;
    int di, dj;
  };
  constexpr Neighbour kNeighbours[] = {
      {"east", 1, 0}, {"north", 0, 1}, {"west", -1, 0}, {"south", 0, -1}};
  for (const Neighbour& other : kNeighbours) {
    for (const bool all_of_it : {true, false}) {  // idx(j + 1, i), or idx(j, i + 1), for north
      const bool fits = look.all_of(interior, [&](int i, int j) {
        double sum = 0;
        for (const Neighbour& each : kNeighbours) {
          const int a = i + each.di, b = j + each.dj;
          if (each.name != other.name) {
            sum += look.at(look.before, a, b);
          } else {
            sum += all_of_it ? look.at(look.before, b, a)
                             : look.at(look.before, j + each.di, i + each.dj);
          }
        }
        return look.near(0.25 * sum, look.at(look.found, i, j));
      });
      if (!fits) continue;
      return {format("%s is read with i and j exchanged, the other neighbours are not", other.name),
              {format("the index of %s in ", other.name) + look.words.sweep()}};
    }
  }
  // The same within each block, as a tile with its indices exchanged does it. Where points are
  // alike that says nothing.
  if (look.problem.kind() != lab::ProblemKind::kProbe) return {};
  for (int block : {8, 16, 32, 64}) {
    if (2 * block > look.n) break;
    std::size_t points = 0, fits = 0;
    look.all_of(interior, [&](int i, int j) {
      const int a = i / block * block + j % block, b = j / block * block + i % block;
      if (std::max(a, b) >= look.n - 1 || std::min(a, b) < 1) return true;
      ++points;
      fits += look.near(look.at(look.expected, a, b), look.at(look.found, i, j));
      return true;
    });
    if (points > 0 && 20 * fits > 19 * points) {
      return {format("within each block of %d x %d points, i and j are exchanged", block, block),
              {look.words.has_tile()
                   ? "the tile's indices where it is loaded and where it is read: tile[y][x] in "
                     "both places, y first"
                   : "threadIdx.x and threadIdx.y in " + look.words.sweep() +
                         ": x belongs to i, y to j, in every index"}};
    }
  }
  return {};
}

// ---- Points that keep a value that they had

/// Whether only the points are right whose two indices come of one: of the same threadIdx, of the
/// same blockIdx, or of both. Says which; "" where it is not so.
std::string same_index(const Look& look) {
  auto only = [&](auto chosen) {
    for (int j = 1; j < look.n - 1; ++j) {
      for (int i = 1; i < look.n - 1; ++i) {
        if (look.inside.has(i, j) == chosen(i, j)) return false;
      }
    }
    return true;
  };
  if (only([](int i, int j) { return i == j; })) {
    return "only the points with i == j are reached: i and j come of the same blockIdx and the "
           "same threadIdx";
  }
  for (int block : {8, 16, 32, 64}) {
    if (2 * block > look.n) break;
    if (only([&](int i, int j) { return i % block == j % block; })) {
      return format(
          "only the points with i %% %d == j %% %d are reached: i and j come of the same "
          "threadIdx",
          block, block);
    }
    if (only([&](int i, int j) { return i / block == j / block; })) {
      return format(
          "only the blocks of %d x %d points on the diagonal are reached: i and j come "
          "of the same blockIdx",
          block, block);
    }
  }
  return "";
}

Diagnosis left_out(const Look& look, bool by_sweep, bool by_copy) {
  if (look.words.swaps()) by_copy = !(by_sweep = true);  // no point is copied
  const std::string leaves_out = by_sweep && by_copy ? "neither sweep nor copy (or swap) reaches "
                                 : by_sweep
                                     ? "the sweep leaves out "
                                     : "the sweep is right, but the copy (or swap) leaves out ";
  const std::string function = by_sweep ? look.words.sweep() : look.words.copy();
  const std::string host = by_sweep ? look.words.host() : "copy_field";
  const bool on_gpu = by_sweep ? look.words.sweep_on_gpu() : look.words.copy_on_gpu();
  const std::string both = by_sweep && by_copy ? " and in copy_field" : "";
  const Pattern& pattern = look.pattern;
  Diagnosis diagnosis;
  // What happens later only was right before.
  const std::string when = look.first > 1 ? format("in iteration %d ", look.first) : "";
  diagnosis.cause = when + leaves_out + pattern.words() + "; old values stay there";
  if (const std::string same = same_index(look); on_gpu && !same.empty()) {
    diagnosis.cause =
        (by_sweep ? "the sweep" : "the copy") + std::string(" leaves out most points: ") + same;
    diagnosis.look_at.push_back(
        "i and j in " + function +
        ": i from blockIdx.x, blockDim.x and threadIdx.x, j from blockIdx.y, "
        "blockDim.y and threadIdx.y");
    return diagnosis;
  }
  diagnosis.draw = pattern.kind == Pattern::kOther;
  int block = 0, other = 0;
  const bool columns_end = pattern.columns.behind_whole_blocks(&block);
  const bool rows_end = pattern.rows.behind_whole_blocks(&other);
  const bool whole_lines = pattern.kind == Pattern::kColumns || pattern.kind == Pattern::kRows ||
                           pattern.kind == Pattern::kUnion;
  const std::vector<int>& ends = pattern.columns.at;
  if (look.words.has_strips() && pattern.kind == Pattern::kColumns && ends.size() < 4 &&
      ends.front() % 4 == 0 && ends.front() + 4 > look.n && ends.back() == look.n - 2) {
    diagnosis.cause += ". They fill no whole float4";
    diagnosis.look_at.push_back("which lanes store in " + function +
                                ": also the one whose four columns are not all in the row; the "
                                "padding takes the others");
    return diagnosis;
  }
  std::string launch;
  if (on_gpu && whole_lines && (columns_end || pattern.kind == Pattern::kRows) &&
      (rows_end || pattern.kind == Pattern::kColumns)) {
    block = std::max(block, other);
    launch =
        "the launch grid in " + host + both + ": it is rounded up, " + look.words.launch_grid();
    // Larger blocks than that are rare, and other mistakes leave out as much.
    if (block <= 32) {
      diagnosis.cause += look.words.has_strips()
                             ? ". They lie behind the last whole block"
                             : format(". They lie behind the last whole block (%d %% %d = %d)",
                                      look.n, block, look.n % block);
      diagnosis.look_at.push_back(launch);
      return diagnosis;
    }
  }
  auto near_an_end = [](const Lines& lines) {
    return lines.kind == Lines::kNone || lines.kind == Lines::kOne || lines.kind == Lines::kFirst ||
           lines.kind == Lines::kLast;
  };
  auto few = [](const Lines& lines) { return lines.at.size() <= 2; };
  if (whole_lines && near_an_end(pattern.columns) && near_an_end(pattern.rows) &&
      few(pattern.columns) && few(pattern.rows)) {
    diagnosis.look_at.push_back(
        "the bounds of i and j in " + function + both +
        (by_sweep ? ": the interior is 1 to n - 2" : ": it goes over all points, 0 to n - 1"));
    return diagnosis;
  }
  if (by_copy && look.words.has_memcpy()) {
    diagnosis.look_at.push_back("the number of bytes, where cudaMemcpy copies the field: " +
                                std::string("n * n * sizeof(float)"));
  }
  if (!launch.empty()) diagnosis.look_at.push_back(launch);
  if (on_gpu && by_sweep && look.pattern.kind == Pattern::kAll) {
    diagnosis.look_at.push_back(
        never_launched(look) +
        (look.words.has_passes()
             ? "; and whether sweeps are still made where fewer are left than a pass has"
         : look.words.has_graph()
             ? "; and which fields a graph reads and writes: those of when it was captured"
             : ""));
    return diagnosis;
  }
  if (on_gpu && by_sweep && look.words.has_strips()) {
    diagnosis.look_at.push_back(
        "which columns a lane has, and which rows a warp marches through "
        "and stores in " +
        function +
        ": j_begin and j_end, with no row between one warp's and the "
        "next one's; and the launch (grid and block) in " +
        host);
    return diagnosis;
  }
  diagnosis.look_at.push_back(
      on_gpu ? "which points the threads of " + function +
                   " have, i and j from blockIdx, blockDim and " +
                   "threadIdx, and the loop over a thread's points, if there is one; and the "
                   "launch (grid and block) in " +
                   host + both
             : "the loops in " + function + both);
  return diagnosis;
}

Diagnosis ask_about_kept_values(const Look& look) {
  if (look.inside.count() == 0 || look.ring.count() > 0) return {};
  auto all_hold = [&](const Field& field) {
    return look.all_of(look.inside, [&](int i, int j) {
      return look.near(look.at(field, i, j), look.at(look.found, i, j));
    });
  };
  const bool hidden = all_hold(look.hidden), before = all_hold(look.before);
  if (!hidden && !before) return {};
  if (hidden && before && !look.words.swaps()) {
    return {"either the sweep or the copy (or swap) leaves out " + look.pattern.words() +
                "; old values stay there",
            {"the bounds in " + look.words.sweep() + " and in " + look.words.copy() +
             ", and the launch grids, if they are kernels"}};
  }
  if (hidden) return left_out(look, true, false);
  // The change of points that are not swept is missing in the residual.
  return left_out(look, !look.residual_is_right(look.first), true);
}

// ---- The update itself

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
           !term.new_field;
  });
}

/// Which rows a warp has to have, beside those that it stores.
std::string march_words(const Look& look) {
  return look.words.has_passes()
             ? "the rows that a warp marches through: from as many below its first one as a pass "
               "has sweeps, to as many above its last one"
             : "the rows that a warp loads: from the one below its first row, to the one above its "
               "last";
}

/// Whether of the four neighbours only the one south, or the one north, is missing.
bool lacks_a_row(const StencilFit& fit) {
  if (fit.terms.size() != 3) return false;
  int west_and_east = 0;
  for (const Term& term : fit.terms) {
    if (std::fabs(term.factor - 0.25) > 1e-5) return false;
    west_and_east += std::abs(term.di) == 1 && term.dj == 0;
  }
  return west_and_east == 2;
}

Diagnosis describe_fit(const Look& look, const StencilFit& fit, const std::string& where) {
  const std::string formula = where + " becomes " + fit.words();
  const bool reads_new = std::any_of(fit.terms.begin(), fit.terms.end(),
                                     [](const Term& term) { return term.new_field; });
  const std::string update = "the line that computes value in " + look.words.sweep();
  if (reads_new) {
    const bool all_new = std::all_of(fit.terms.begin(), fit.terms.end(),
                                     [](const Term& term) { return term.new_field; });
    return {formula + ", \"(new)\" being of this same sweep: it reads the field that it writes",
            {(all_new ? ""
                      : "from which of the two fields each neighbour is read in " +
                            look.words.sweep() + "; and ") +
             "the arguments of " + look.words.sweep() +
             ": it reads one field and writes the other; what is new "
             "becomes old only when the whole sweep has ended"}};
  }
  if (fit.terms.empty()) {
    return {formula, {update + " (1 / 4 between integers is 0), and what it reads"}};
  }
  const bool four = fit.terms.size() == 4 &&
                    std::all_of(fit.terms.begin(), fit.terms.end(), [&](const Term& term) {
                      return std::abs(term.di) + std::abs(term.dj) == 1 &&
                             std::fabs(term.factor - fit.terms[0].factor) < 1e-5;
                    });
  if (four) {
    return {formula + ": the right neighbours, but the factor is not 0.25", {update}};
  }
  int di = 0, dj = 0;
  if (is_shifted(fit, &di, &dj)) {
    return {formula + format(": what point (i%+d, j%+d) should become, so all that it reads lies "
                             "that far off",
                             di, dj),
            {"where the neighbours are read in " + look.words.sweep() +
             (look.words.has_tile() ? ", and from where to where the tile is loaded" : "")}};
  }
  Diagnosis diagnosis{formula + "; right is 0.25 of east, north, west and south each", {}};
  if (look.words.has_strips() && lacks_a_row(fit)) {
    // On a GPU with many multiprocessors a warp may have one row of its own, so that all are at an
    // end.
    diagnosis.look_at.push_back(march_words(look));
  }
  diagnosis.look_at.push_back("the four neighbours in " + look.words.sweep() +
                              ", one by one, and " + update);
  return diagnosis;
}

Diagnosis ask_for_fit(const Look& look) {
  if (look.inside.count() == 0 || look.ring.count() > 0) return {};
  // In place every point is computed alike, those too that come out right.
  Cells interior(look.n);
  for (int j = 1; j < look.n - 1; ++j) {
    for (int i = 1; i < look.n - 1; ++i) interior.add(i, j);
  }
  const StencilFit everywhere = fit_stencil(look.before, look.found, interior);
  if (everywhere.found) return describe_fit(look, everywhere, "each point");
  return {};
}

/// The same of the points that are not at the edge of a block: those at an edge may read beyond the
/// tile, where anything may stand.
Diagnosis ask_for_fit_inside_blocks(const Look& look) {
  constexpr int kBlock = 32, kEdge = 3;
  if (!look.words.has_tile() || look.ring.count() > 0) return {};
  auto inside = [&](int k) { return k % kBlock >= kEdge && k % kBlock < kBlock - kEdge; };
  Cells some(look.n);
  for (int j = kEdge; j < look.n - kEdge; ++j) {
    for (int i = kEdge; i < look.n - kEdge; ++i) {
      if (!inside(i) || !inside(j)) continue;
      if (!look.inside.has(i, j)) return {};
      some.add(i, j);
    }
  }
  const StencilFit fit = fit_stencil(look.before, look.found, some);
  if (!fit.found) return {};
  return describe_fit(look, fit, "each point that is not at the edge of a block");
}

/// Whether every point is the mean of four neighbours some of which are from the field that the
/// sweep writes: it holds new values already, or what was there before.
Diagnosis ask_for_mix(const Look& look) {
  if (look.inside.count() == 0 || look.ring.count() > 0) return {};
  const Field* const sources[] = {&look.before, &look.found, &look.hidden};
  bool from_before = false;
  const bool mixed = look.all_of(look.inside, [&](int i, int j) {
    const std::pair<int, int> neighbours[] = {{i + 1, j}, {i, j + 1}, {i - 1, j}, {i, j - 1}};
    // The first 16 choices are those among two sources.
    for (const int count : {2, 3}) {
      for (int choice = 0; choice < count * count * count * count; ++choice) {
        double sum = 0;
        for (int k = 0, rest = choice; k < 4; ++k, rest /= count) {
          const auto [a, b] = neighbours[k];
          sum += look.at(*sources[rest % count], a, b);
        }
        if (!look.near(0.25 * sum, look.at(look.found, i, j))) continue;
        from_before |= count == 3;
        return true;
      }
    }
    return false;
  });
  if (!mixed) return {};
  return {
      std::string("each wrong point is the mean of four neighbours, but some of them ") +
          (from_before ? "come from the field that the sweep writes (new values, or old ones "
                         "that it held before)"
                       : "have their new values already: it reads the field that it writes"),
      {"the four neighbours in " + look.words.sweep() +
           ": all from the old field, and its arguments: it reads one field and writes the other",
       "whether something overwrites the field that is read before the whole sweep has ended"}};
}

// ---- The edges of lanes

/// One of the neighbours that a lane has to get from another one, and what was taken for it.
struct Exchanged {
  const char *end, *neighbour, *lane;
  std::vector<int> columns;
  int taken = 0;  ///< (i + taken, j); 0: not known
};

/// Looks for the one distance at which all these columns took their neighbour.
void find_taken(const Look& look, bool east, Exchanged* side) {
  const int own = east ? 1 : -1;
  for (int d = -look.n; d <= look.n; ++d) {
    if (d == own) continue;
    // Besides the neighbour itself: its sum with the one south of it, which is handed on as one.
    for (const bool pair : {false, true}) {
      bool fits = true;
      std::size_t points = 0;
      for (std::size_t k = 0; fits && k < side->columns.size(); ++k) {
        const int i = side->columns[k];
        // What lies in the padding, or beyond, nobody knows.
        if (i + d < 0 || i + d >= look.n || i + d + pair >= look.n) continue;
        for (int j = 1; fits && j < look.n - 1; ++j) {
          if (!look.inside.has(i, j)) continue;
          const Field& f = look.before;
          const double north = look.at(f, i, j + 1);
          const double south = look.at(f, pair ? i + d + 1 : i, j - 1);
          const double other = look.at(f, i - own, j), taken = look.at(f, i + d, j);
          fits = look.near(0.25 * (north + south + other + taken), look.at(look.found, i, j));
          ++points;
        }
      }
      if (fits && 2 * points >= look.inside.count() / 4 && points > 0) {
        side->taken = d;
        return;
      }
    }
  }
}

/// Where a strip stores fewer columns than it loads.
std::string halo_words(const Look& look) {
  return look.words.has_passes() ? "; and which columns a strip stores: kHalo at each of its ends "
                                   "are not among them (kKept)"
                                 : "";
}

Diagnosis ask_about_lanes(const Look& look) {
  constexpr int kOfLane = 4;  // columns
  if (!look.words.has_strips() || look.inside.count() == 0 || look.ring.count() > 0) return {};
  Exchanged sides[2] = {{"first", "west", "lane before", {}}, {"last", "east", "next lane", {}}};
  for (int i = 1; i < look.n - 1; ++i) {
    int wrong = 0;
    for (int j = 1; j < look.n - 1; ++j) wrong += look.inside.has(i, j);
    if (wrong == 0) continue;
    if (i % kOfLane != 0 && i % kOfLane != kOfLane - 1) return {};
    if (2 * wrong < look.n) return {};
    sides[i % kOfLane != 0].columns.push_back(i);
  }
  Diagnosis diagnosis;
  std::vector<std::string> causes;
  bool ends = false, lanes = false;
  for (const bool east : {false, true}) {
    Exchanged& side = sides[east];
    if (side.columns.empty()) continue;
    const bool at_ends =
        side.columns.size() == 1 || side.columns[1] - side.columns[0] > 16 * kOfLane;
    (at_ends ? ends : lanes) = true;
    std::string cause = describe_lines(side.columns, 'i', look.n).words();
    cause += at_ends ? format(" (the %s of a strip), whose %s neighbour lies beyond the strip",
                              side.end, side.neighbour)
                     : format(" (the %s of a lane's four), whose %s neighbour is the %s's",
                              side.end, side.neighbour, side.lane);
    find_taken(look, east, &side);
    if (side.taken != 0) cause += format("; point (i%+d, j) is taken for it", side.taken);
    causes.push_back(cause);
  }
  const std::string both = causes.size() > 1 ? ", and " + causes[1] : "";
  diagnosis.cause = "wrong are " + causes[0] + both + ". All other columns are right";
  if (lanes) {
    diagnosis.look_at.push_back(
        "the shuffles: up by 1 brings what the lane before has (its last point is west of this "
        "lane's first), down by 1 what the next lane has (its first point is east of this lane's "
        "last)");
  }
  if (ends) {
    diagnosis.look_at.push_back(
        "what the first and the last lane of a warp take for the points beyond their strip, where "
        "a shuffle has no lane to ask" +
        halo_words(look));
  }
  return diagnosis;
}

// ---- The edges of blocks

/// A line at the edge of every block: which neighbour of its points belongs to the block next door.
struct Edge {
  std::string which, neighbour, halo;
};

/// Whether the lines are the first ones of every block, the last ones, or both.
std::vector<Edge> edges_of(const Lines& lines, bool strips) {
  std::vector<Edge> edges;
  if (lines.kind != Lines::kPeriodic || lines.period < kSmallestBlock) return edges;
  const bool columns = lines.letter == 'i';
  for (int remainder : lines.classes) {
    const bool low = remainder == 0;
    if (!low && remainder != lines.period - 1) return {};
    Edge edge;
    edge.which = format("the %s %s of each %s (%c %% %d == %d)", low ? "first" : "last",
                        columns ? "column" : "row",
                        !strips   ? "block"
                        : columns ? "strip"
                                  : "warp's march",
                        lines.letter, lines.period, remainder);
    edge.neighbour = columns ? (low ? "west" : "east") : (low ? "south" : "north");
    edge.halo = columns ? (low ? "left column" : "right column") : (low ? "bottom row" : "top row");
    edges.push_back(edge);
  }
  return edges;
}

/// What the wrong points of an edge became, where that is known.
std::string edge_values(const Look& look) {
  const bool none =
      look.all_of(look.inside, [&](int i, int j) { return std::isnan(look.at(look.found, i, j)); });
  if (none) return ". The points are not a number there: read, and never written?";
  const StencilFit fit = fit_stencil(look.before, look.found, look.inside);
  return fit.found ? ". A point becomes " + fit.words() + " there" : "";
}

Diagnosis ask_about_edges(const Look& look) {
  if (look.inside.count() == 0 || look.ring.count() > 0) return {};
  const Pattern& pattern = look.pattern;
  const bool columns = pattern.kind == Pattern::kColumns || pattern.kind == Pattern::kInColumns;
  const bool rows = pattern.kind == Pattern::kRows || pattern.kind == Pattern::kInRows;
  const bool both = pattern.kind == Pattern::kUnion;
  const std::vector<Edge> sides = edges_of(pattern.columns, look.words.has_strips()),
                          ends = edges_of(pattern.rows, look.words.has_strips());
  std::vector<Edge> edges;
  if (columns || (both && !ends.empty())) edges = sides;
  if (rows || (both && !sides.empty())) edges.insert(edges.end(), ends.begin(), ends.end());
  if (edges.empty()) return {};
  std::vector<std::string> neighbours, halos, which;
  for (const Edge& edge : edges) {
    which.push_back(edge.which);
    neighbours.push_back(edge.neighbour);
    halos.push_back("the " + edge.halo);
  }
  Diagnosis diagnosis;
  diagnosis.cause = "only " + join(which) + (edges.size() == 1 ? " is" : " are") +
                    " wrong: points whose " + join(neighbours, "or") +
                    (look.words.has_strips() ? " neighbour belongs to another warp"
                                             : " neighbour belongs to the block next door") +
                    edge_values(look);
  if (look.words.has_strips()) {
    if (columns || both) {
      diagnosis.look_at.push_back(
          "what the first and the last lane of a warp take for the points beyond their strip, "
          "where a shuffle has no lane to ask" +
          halo_words(look));
    }
    if (rows || both) {
      diagnosis.look_at.push_back(march_words(look));
    }
  } else if (look.words.has_tile()) {
    diagnosis.look_at.push_back(
        join(halos) +
        " of the tile's halo: loaded from where to where, by which threads, and read how");
  } else {
    diagnosis.look_at.push_back("how " + look.words.sweep() +
                                " gets the neighbours at the edges of a block");
  }
  return diagnosis;
}

// ---- What is left

/// The wrong points alone are computed alike, and not as they should be.
Diagnosis ask_for_fit_where_wrong(const Look& look) {
  if (look.ring.count() > 0) return {};
  const StencilFit fit = fit_stencil(look.before, look.found, look.inside);
  if (!fit.found) return {};
  Diagnosis diagnosis = describe_fit(look, fit, "each of " + look.pattern.words());
  // Some whole rows: those with which a march begins or ends.
  if (look.words.has_strips() && look.pattern.kind == Pattern::kRows &&
      look.pattern.rows.at.size() > 1) {
    diagnosis.look_at.insert(diagnosis.look_at.begin(), march_words(look));
  }
  return diagnosis;
}

Diagnosis race(const Look& look) {
  const std::string cause =
      "two runs of it give different fields: a race (is a barrier missing, or misplaced?)";
  if (look.words.has_tile()) {
    return {
        cause,
        {"__syncthreads() between the loads of the tile and the first read of it, outside of "
         "every if and loop; whether the tile is __shared__, and as large as the block's points "
         "with their halo; or shared memory that no thread has written",
         "whether each point is written by one thread alone: no two blocks have the same rows or "
         "columns"}};
  }
  if (look.words.has_streams()) {
    return {
        "two runs of it give different fields: a race. What one stream writes another one, or "
        "the host, uses too early",
        {"what each stream waits for before it goes on, and the sum before it is read: all "
         "that the other one did and that is used now (cudaStreamWaitEvent, for an event that "
         "was recorded behind it)",
         "whether a row's place in the ring is filled anew before the row was used"}};
  }
  if (look.words.has_ring()) {
    return {
        "two runs of it give different fields: a race. A row is used before it has arrived, or "
        "its place is filled anew before it was used",
        {"the ring: whether a row's place is filled anew before the row was used, and whether "
         "a row is used before it has arrived (how many __pipeline_wait_prior leaves under "
         "way)",
         "whether all 32 lanes reach each shuffle, and whether two warps store the same "
         "points"}};
  }
  return {cause,
          {"whether a thread reads what another one may not have written yet, or has overwritten "
           "already",
           "whether the host waits for each kernel (cudaDeviceSynchronize) before it goes on"}};
}

/// Rows that arrive while others are used: where they meet may look like anything.
Diagnosis ask_about_ring(const Look& look) {
  const bool race_is_likely =
      look.words.has_ring() && look.problem.kind() == lab::ProblemKind::kProbe;
  return race_is_likely && field_changes(&look.interview, look.first) ? race(look) : Diagnosis();
}

Diagnosis ask_about_race(const Look& look) {
  return field_changes(&look.interview, look.first) ? race(look) : Diagnosis();
}

Diagnosis ask_about_not_a_number(const Look& look) {
  Cells none(look.n);
  look.all_of(look.cells, [&](int i, int j) {
    if (std::isnan(look.at(look.found, i, j))) none.add(i, j);
    return true;
  });
  if (none.count() == 0) return {};
  if (none.interior().count() == 0) {
    int sides = 0;
    return {sides_of(look, &sides) +
                " holds values that are not a number: one of the two fields "
                "never got its starting values there",
            {"the calls of initialize_field in main: f_old gets problem.initial_old(), f_new "
             "problem.initial_new(); and its loops, or its threads: all points, i and j from 0 to "
             "n - 1"}};
  }
  const Pattern pattern = find_pattern(none);
  if (pattern.kind == Pattern::kAll && look.inside.count() == look.cells.count()) {
    return {format("every point that a sweep computes is not a number from iteration %d on. Either "
                   "the formula divides 0 by 0, or %s that it reads was never written",
                   look.first, look.words.has_tile() ? "the tile, or the field," : "the field"),
            {look.words.has_tile() ? "which entries of the tile the threads load, all of them "
                                     "together: each one once, and which ones are read"
                                   : "the line that computes value in " + look.words.sweep(),
             "initialize_field, and which field the sweep reads"}};
  }
  Diagnosis diagnosis;
  diagnosis.draw = pattern.kind == Pattern::kOther;
  diagnosis.cause =
      (none.interior().count() == 0 ? "points of the boundary" : pattern.words()) +
      format(": not a number from iteration %d on, as if read where nothing had been written",
             look.first);
  diagnosis.look_at.push_back(
      look.words.has_tile() ? "which entries of the tile the threads load, all of them together, "
                              "and which ones are read"
      : look.words.has_ring()
          ? "the ring: whether each row has arrived when it is read (how many "
            "__pipeline_wait_prior leaves under way), and is not overwritten before"
          : "what " + look.words.sweep() + " reads for these points");
  return diagnosis;
}

Diagnosis ask_about_blocks(const Look& look) {
  if (look.ring.count() > 0) return {};
  const int block = same_in_every_block(look.inside);
  if (block == 0) return {};
  std::string where = look.pattern.words();
  if (look.pattern.kind == Pattern::kOther || look.pattern.kind == Pattern::kAll) {
    where = "the points that are wrong";
  }
  return {where + format(" lie at the same places in every block of %d x %d", block, block),
          {look.words.has_tile()
               ? "which entries of the tile the threads load, all of them together, and which "
                 "ones they read"
           : look.words.has_strips()
               ? "which columns a lane has, which rows a warp marches through, and what lanes give "
                 "each other in " +
                     look.words.sweep()
               : "which points the threads of a block have in " + look.words.sweep()}};
}

}  // namespace

Diagnosis diagnose_field(const Wrong& wrong, Interview* interview) {
  if (!interview->after(wrong.first_iteration)) return {};
  const Look look(wrong, interview);
  // It was wrong, and asked once more it is right.
  if (look.cells.count() == 0) return race(look);
  using Question = Diagnosis (*)(const Look&);
  // What predicts every bit comes first, what only says how it looks comes last.
  constexpr Question kQuestions[] = {ask_about_unfinished_copy,
                                     ask_about_width,
                                     ask_about_repeated_rows,
                                     ask_about_pitch,
                                     ask_for_story,
                                     ask_about_other_places,
                                     ask_about_one_value,
                                     ask_about_exchanged_indices,
                                     ask_about_ring,
                                     ask_about_shared_places,
                                     ask_about_boundary,
                                     ask_about_missing_starts,
                                     ask_about_kept_values,
                                     ask_for_fit,
                                     ask_about_lanes,
                                     ask_for_mix,
                                     ask_about_edges,
                                     ask_for_fit_inside_blocks,
                                     ask_about_shift_of_blocks,
                                     ask_about_race,
                                     ask_for_fit_where_wrong,
                                     ask_about_lines_taken,
                                     ask_beside_the_boundary,
                                     ask_about_not_a_number,
                                     ask_about_blocks};
  for (Question question : kQuestions) {
    Diagnosis diagnosis = question(look);
    if (diagnosis.known()) return diagnosis;
  }
  return {};
}

}  // namespace validate
