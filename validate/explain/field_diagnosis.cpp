// What is wrong with a field: hypotheses, each of which predicts the field that was found. The list
// of all of them stands at the end.

#include <algorithm>
#include <cmath>
#include <regex>
#include <string>
#include <vector>

#include "explain/field_look.h"
#include "run/text.h"
#include "source/source_code.h"

namespace validate {
namespace {

using Look = FieldLook;

// ---- The boundary

/// Whether the wrong points of the boundary hold a mean of four, as if they were interior points:
/// of what stands next in memory, in either order of the indices. Outside of the field is 0, or
/// `unknown`: then points that reach there say nothing.
bool boundary_is_swept(const Look& look, bool i_inner, bool unknown) {
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
  // At its ends a side may meet what nobody knows: memory behind the field.
  return points > 2 && fits + 2 >= points && 4 * points > look.ring.count();
}

bool boundary_is_swept(const Look& look) {
  for (const bool i_inner : {true, false}) {
    for (const bool unknown : {false, true}) {
      if (boundary_is_swept(look, i_inner, unknown)) return true;
    }
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

/// Whether the wrong points of the boundary hold other values two sweeps later: what a field began
/// with stays there, unless a sweep writes it.
bool boundary_changes(const Look& look) {
  const Observation* later = look.interview.after(look.first + 2);
  return later && !look.all_of(look.ring, [&](int i, int j) {
    const float value = look.at(look.found, i, j), then = look.at(later->field, i, j);
    return value == then || !std::isfinite(value) || !std::isfinite(then);
  });
}

/// A diagnosis, and what is wrong besides.
Diagnosis with(const Diagnosis& besides, Diagnosis diagnosis) {
  if (!besides.known()) return diagnosis;
  diagnosis.cause += ". Besides, " + besides.cause;
  diagnosis.look_at.insert(diagnosis.look_at.end(), besides.look_at.begin(), besides.look_at.end());
  return diagnosis;
}

/// What else is wrong, where the boundary is: of the interior after the first sweep, which read a
/// right boundary.
Diagnosis ask_about_interior_alone(const Look& look);

Diagnosis ask_about_boundary(const Look& look) {
  if (look.ring.count() == 0) return {};
  int sides = 0;
  const std::string where = sides_of(look, &sides);
  const std::string holds = sides <= 1 || sides == 4 ? " holds " : " hold ";
  auto is = [&](auto test) {
    return look.all_of(look.ring, [&](int i, int j) { return test(look.at(look.found, i, j)); });
  };
  const bool zero = is([](float v) { return v == 0.0f; });
  const bool none = is([](float v) { return std::isnan(v); });
  const std::string value = zero ? "0" : none ? "no numbers" : "other values than at the start";
  if (look.inside.count() > 0 && boundary_was_wrong_before(look)) {
    return {where + holds + value + ", and did so already when the first sweep read it",
            {"the loops (or the threads) of initialize_field: they go over all points, i and j "
             "from 0 to n - 1"}};
  }
  Diagnosis besides;
  if (look.inside.count() > 0) {
    besides = ask_about_interior_alone(look);
    if (!besides.known()) return {};
  }
  Diagnosis diagnosis;
  if (boundary_is_swept(look)) {
    diagnosis = {
        "the sweep goes over " + where + " as if it were interior: it must keep its values",
        {look.words.bounds()}};
  } else {
    if (boundary_changes(look)) {
      diagnosis = {where + holds + value +
                       " after a sweep, and other ones after later sweeps: the sweep (or the copy) "
                       "writes there, where it must leave the values as they are",
                   {look.words.bounds()}};
      return with(besides, diagnosis);
    }
    std::vector<std::string> causes = {"the sweep (or the copy) writes there",
                                       "f_new did not begin with its values"};
    diagnosis.look_at = {
        look.words.bounds(),
        "initialize_field(f_new, problem.initial_new(), n) in main, and the loops in "
        "initialize_field: all points, i and j from 0 to n - 1"};
    // A sweep that reads beyond the field finds something else at each side of it.
    // Nor does it read anything beyond the field, if a look at every access finds no such thing.
    const Patient& patient = look.interview.patient();
    const bool reads_right = patient.watched && patient.finding.kind != Finding::kOutOfBounds;
    if ((none && reads_right) || (sides == 4 && (zero || none))) {
      std::reverse(causes.begin(), causes.end());
      std::reverse(diagnosis.look_at.begin(), diagnosis.look_at.end());
    }
    diagnosis.cause = where + holds + value + " after a sweep, " +
                      (besides.known() ? "which read right ones there" : "and all else is right") +
                      ". Either " + causes[0] + ", or " + causes[1];
    if (where == format("the boundary's column i = %d and row j = %d", look.n - 1, look.n - 1)) {
      diagnosis.cause += ", or the program's n is larger than --n says";
      diagnosis.look_at.push_back("n in main: it is options.n");
    }
    diagnosis.symptom = true;
  }
  return with(besides, diagnosis);
}

// ---- One array with its indices exchanged

Diagnosis ask_about_exchanged_indices(const Look& look);

constexpr int kSeveralBlocks = 100;  // points a side
const char* const kTileIndices =
    "the tile's indices where it is loaded and where it is read: tile[y][x] in both places, y "
    "first";

/// The same on a grid of several blocks: a tile with its indices exchanged looks, in a grid that is
/// hardly larger than one block, as if the whole field had them exchanged.
Diagnosis ask_again_with_more_blocks(const Look& look) {
  if (!look.words.has_tile() || look.n >= kSeveralBlocks) return {};
  Wrong wrong = look.wrong;
  wrong.run.n = kSeveralBlocks;
  Interview interview(wrong.run, look.interview.patient());
  if (!interview.after(wrong.first_iteration)) return {};
  return ask_about_exchanged_indices(Look(wrong, &interview));
}

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
    if (const Diagnosis more = ask_again_with_more_blocks(look); more.known()) return more;
    if (look.words.has_tile() && look.n < kSeveralBlocks) {
      return {
          "the interior is the right one with i and j exchanged, the boundary is not: within "
          "each block (this grid is hardly larger than one), or in one array's index",
          {kTileIndices, "every idx(...) in " + look.words.sweep() + ": idx(i, j, n)"}};
    }
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
      // At a block's edge a halo may be right.
      const int x = i % block, y = j % block;
      if (std::min(x, y) == 0 || std::max(x, y) == block - 1) return true;
      ++points;
      fits += look.near(look.at(look.expected, a, b), look.at(look.found, i, j));
      return true;
    });
    if (points > 0 && 20 * fits > 19 * points) {
      return {format("within each block of %d x %d points, i and j are exchanged", block, block),
              {look.words.has_tile() ? kTileIndices
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

/// Who leaves out points: the sweep, the copy, or both.
struct Culprit {
  Culprit(const Look& look, bool sweep, bool copy)
      : by_sweep(sweep || look.words.swaps()),  // where fields are swapped,
        by_copy(copy && !look.words.swaps()),   // no point is copied
        on_gpu(by_sweep ? look.words.sweep_on_gpu() : look.words.copy_on_gpu()),
        function(by_sweep ? look.words.sweep() : look.words.copy()),
        host(by_sweep ? look.words.host() : "copy_field"),
        both(by_sweep && by_copy ? " and in copy_field" : "") {}
  std::string leaves_out() const {
    return by_sweep && by_copy ? "neither sweep nor copy (or swap) reaches "
           : by_sweep          ? "the sweep leaves out "
                               : "the sweep is right, but the copy (or swap) leaves out ";
  }
  bool by_sweep, by_copy, on_gpu;
  std::string function, host, both;
};

/// Fewer columns than that are no strip.
constexpr std::size_t kNarrowestStrip = 8;

/// Lines that are left out at an end of the grid: says why, where that is known. Sets `launch` to
/// what to look at in the launch, where it may be that as well.
bool explain_ends(const Look& look, const Culprit& culprit, std::string* launch,
                  Diagnosis* diagnosis) {
  const Pattern& pattern = look.pattern;
  if (pattern.kind != Pattern::kColumns && pattern.kind != Pattern::kRows &&
      pattern.kind != Pattern::kUnion) {
    return false;
  }
  const std::vector<int>& ends = pattern.columns.at;
  if (look.words.has_strips() && pattern.kind == Pattern::kColumns && ends.size() < 4 &&
      ends.front() % 4 == 0 && ends.front() + 4 > look.n && ends.back() == look.n - 2) {
    diagnosis->cause += ". They fill no whole float4";
    diagnosis->look_at.push_back("which lanes store in " + culprit.function +
                                 ": also the one whose four columns are not all in the row; the "
                                 "padding takes the others");
    diagnosis->look_at.push_back(look.words.bounds());
    return true;
  }
  if (look.words.has_strips() && !ends.empty() && ends.size() < kNarrowestStrip) {
    // A launch grid that is too small leaves out whole strips.
    diagnosis->look_at.push_back(look.words.bounds());
    return true;
  }
  int block = 0, other = 0;
  const bool columns_end = pattern.columns.behind_whole_blocks(&block);
  const bool rows_end = pattern.rows.behind_whole_blocks(&other);
  if (culprit.on_gpu && (columns_end || pattern.kind == Pattern::kRows) &&
      (rows_end || pattern.kind == Pattern::kColumns)) {
    block = std::max(block, other);
    *launch = "the launch grid in " + culprit.host + culprit.both + ": round it up, " +
              look.words.launch_grid();
    // Larger blocks than that are rare, and other mistakes leave out as much.
    if (block <= 32) {
      diagnosis->cause += look.words.has_strips()
                              ? ". They lie behind the last whole block"
                              : format(". They lie behind the last whole block (%d %% %d = %d)",
                                       look.n, block, look.n % block);
      diagnosis->look_at.push_back(*launch);
      return true;
    }
  }
  auto near_an_end = [](const Lines& lines) {
    return lines.at.empty() ||
           (lines.at.size() <= 2 && (lines.at.front() == 1 || lines.at.back() == lines.n - 2));
  };
  if (!near_an_end(pattern.columns) || !near_an_end(pattern.rows)) return false;
  if (look.words.has_strips() && culprit.by_sweep) {
    diagnosis->look_at.push_back(look.words.bounds());
    return true;
  }
  diagnosis->look_at.push_back("the bounds of i and j in " + culprit.function + culprit.both +
                               (culprit.by_sweep ? ": the interior is 1 to n - 2"
                                                 : ": it goes over all points, 0 to n - 1") +
                               (culprit.on_gpu ? "; and the launch in " + culprit.host +
                                                     ": whether it has a thread for each of them"
                                               : ""));
  return true;
}

/// Which threads (or loops) have the points of the function.
std::string points_of(const Look& look, const Culprit& culprit) {
  if (!culprit.on_gpu) return "the loops in " + culprit.function + culprit.both;
  if (culprit.by_sweep && look.pattern.kind == Pattern::kAll) {
    return never_launched(look) +
           (look.words.has_passes() ? "; and whether sweeps are still made where fewer are left "
                                      "than a pass has, one alone, too"
            : look.words.has_checks() && !look.words.has_graph()
                ? "; and how many sweeps " + look.words.host() +
                      " makes: as many as it is asked for, one alone, too"
            : look.words.has_graph()
                ? "; and which fields a graph reads and writes: those of when it was captured"
                : "");
  }
  if (culprit.by_sweep && look.words.has_strips()) {
    return "which columns a lane has, and which rows a warp marches through and stores in " +
           culprit.function +
           ": j_begin and j_end, with no row between one warp's and the next one's; and the launch "
           "(grid and block) in " +
           culprit.host +
           (look.wrong.run.ranks > 1
                ? "; and which rows each rank has, and how they are divided (at its ends, and the "
                  "rest): together all of them"
                : "");
  }
  return "which points the threads of " + culprit.function +
         " have, i and j from blockIdx, blockDim and threadIdx, and the loop over a thread's "
         "points, if there is one; and the launch (grid and block) in " +
         culprit.host + culprit.both;
}

Diagnosis left_out(const Look& look, const Culprit& culprit) {
  Diagnosis diagnosis;
  if (const std::string same = same_index(look); culprit.on_gpu && !same.empty()) {
    return {(culprit.by_sweep ? "the sweep" : "the copy") +
                std::string(" leaves out most points: ") + same,
            {"how i and j are computed in " + culprit.function +
             ": with blocks in two directions i from blockIdx.x, blockDim.x and threadIdx.x, j "
             "from blockIdx.y, blockDim.y and threadIdx.y; of one number k, i = k % n and j = k / "
             "n"}};
  }
  // What happens later only was right before.
  const std::string when = look.first > 1 ? format("in iteration %d ", look.first) : "";
  diagnosis.cause = when + culprit.leaves_out() + look.pattern.words() + "; old values stay there";
  diagnosis.draw = look.pattern.kind == Pattern::kOther;
  std::string launch;
  if (explain_ends(look, culprit, &launch, &diagnosis)) return diagnosis;
  if (culprit.by_copy && !look.words.launches_copy() &&
      (look.words.has_memcpy() || look.words.has_host_memcpy())) {
    diagnosis.look_at.push_back(
        "the number of bytes, where " +
        std::string(look.words.has_host_memcpy() ? "memcpy" : "cudaMemcpy") +
        " copies the field: n * n * sizeof(float)");
    return diagnosis;
  }
  if (culprit.by_copy && !culprit.by_sweep && look.first > 1 &&
      look.pattern.kind == Pattern::kAll) {
    diagnosis.look_at.push_back(
        "whether copy_field is called in each iteration, whatever the iteration's number");
  }
  if (look.words.has_graph() && look.first > 1 && look.pattern.kind == Pattern::kAll) {
    return {format("in iteration %d the field that main takes for the result is not the one that "
                   "the sweep wrote: it holds old values everywhere",
                   look.first),
            {"which graph is launched, and when main's pointers change roles: a graph keeps the "
             "fields that it was captured with, so the two graphs must take turns"}};
  }
  if (!launch.empty()) diagnosis.look_at.push_back(launch);
  diagnosis.look_at.push_back(points_of(look, culprit));
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
  if (look.words.swaps() && look.pattern.kind == Pattern::kAll &&
      look.residual_is_right(look.first)) {
    return {format("iteration %d computes the right new field (its residual is right), and that "
                   "field does not become the "
                   "old one: the result is the field before it",
                   look.first),
            {"whether " + look.words.handover() +
             " comes after each sweep, whatever the iteration's number; and which "
             "field run.finish copies"}};
  }
  if (hidden) return left_out(look, Culprit(look, true, false));
  // The change of points that are not swept is missing in the residual.
  return left_out(look, Culprit(look, !look.residual_is_right(look.first), true));
}

Diagnosis ask_about_interior_alone(const Look& look) {
  // Only after the first sweep is it known what the sweep read: the boundary as it began.
  if (look.first != 1) return {};
  Look interior = look;
  interior.cells = look.inside;
  interior.ring = Cells(look.n);
  return ask_about_kept_values(interior);
}

// ---- What is left

/// The line that declares a tile without __shared__; 0: there is none.
int unshared_tile_in(const std::string& source) {
  static const std::regex declared(R"(^\s*(float|double)\s+\w*tile\w*\s*\[.*\[.*\]\s*;)");
  const std::vector<std::string> lines = code_lines(source);
  for (std::size_t k = 0; k < lines.size(); ++k) {
    if (std::regex_search(lines[k], declared)) return static_cast<int>(k) + 1;
  }
  return 0;
}

Diagnosis race_in_words(const Look& look) {
  const std::string cause =
      "two runs of it give different fields: a race (is a barrier missing, or misplaced?)";
  const int own = unshared_tile_in(look.interview.patient().source);
  if (look.words.has_tile() && own > 0) {
    return {format("at line %d the tile is declared without __shared__: each thread has one of its "
                   "own, and what it has not loaded itself may be anything",
                   own),
            {format("line %d: __shared__ in front of it", own)}};
  }
  if (look.words.has_tile()) {
    return {
        cause,
        {"__syncthreads() between the loads of the tile and the first read of it, outside of "
         "every if and loop; whether the tile is __shared__, and as large as the block's points "
         "with their halo; or shared memory that no thread has written",
         "whether each point is written by one thread alone: no two blocks have the same rows or "
         "columns"}};
  }
  if (look.words.has_streams() && !found_in_shared(look.interview.patient())) {
    return {
        "two runs of it give different fields: a race. What one stream writes another one, or "
        "the host, uses too early",
        {"what each stream waits for before it goes on, and the sum before it is read: all "
         "that the other one did and that is used now (cudaStreamWaitEvent, for an event that "
         "was recorded behind it)"}};
  }
  if (const std::string lacks = look.words.lacking_of_pipeline(); !lacks.empty()) {
    return {
        "two runs of it give different fields: rows are copied by __pipeline_memcpy_async, and " +
            lacks + " is nowhere: a row is used before it has arrived",
        {"the three calls that belong together: __pipeline_memcpy_async asks for a row, "
         "__pipeline_commit closes a batch of such copies, __pipeline_wait_prior waits until at "
         "most so many batches are under way"}};
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

/// What a single access does wrong says more than that two runs differ.
Diagnosis race(const Look& look) {
  Diagnosis diagnosis = race_in_words(look);
  diagnosis.symptom = true;
  return diagnosis;
}

/// Rows that arrive while others are used: where they meet may look like anything.
Diagnosis ask_about_ring(const Look& look) {
  const bool race_is_likely =
      look.words.has_ring() && look.problem.kind() == lab::ProblemKind::kProbe;
  return race_is_likely && field_changes(&look.interview, look.first) ? race(look) : Diagnosis();
}

/// A race in a tile, whatever the field looks like: on the CPU threads always meet in the same way.
Diagnosis ask_about_race_in_tile(const Look& look) {
  const Patient& patient = look.interview.patient();
  const bool in_tile = look.words.has_tile() && patient.finding.kind == Finding::kRace &&
                       patient.finding.shared && !patient.finding.both_write;
  return in_tile ? diagnose_finding(patient.finding, look.n, patient) : Diagnosis();
}

Diagnosis ask_about_race(const Look& look) {
  const Finding& finding = look.interview.patient().finding;
  if (finding.kind == Finding::kRace && finding.both_write && !finding.shared) {
    return diagnose_finding(finding, look.n, look.interview.patient());
  }
  return field_changes(&look.interview, look.first) ? race(look) : Diagnosis();
}

Diagnosis ask_about_not_a_number(const Look& look) {
  Cells none(look.n);
  bool infinite = true;  // each of them
  look.all_of(look.cells, [&](int i, int j) {
    const float value = look.at(look.found, i, j);
    if (!std::isfinite(value)) none.add(i, j);
    infinite &= !std::isnan(value);
    return true;
  });
  if (none.count() == 0) return {};
  if (none.interior().count() == 0) {
    int sides = 0;
    Diagnosis diagnosis{
        sides_of(look, &sides) + " holds values that are not a number: ",
        {"the calls of initialize_field in main: f_old gets problem.initial_old(), "
         "f_new problem.initial_new(); and its loops, or its threads: all points, i "
         "and j from 0 to n - 1"}};
    if (none.count() == 4 * static_cast<std::size_t>(look.n - 1)) {
      diagnosis.cause +=
          "all of it, and no other point, so one of the two fields never got its starting values "
          "there";
    } else {
      diagnosis.cause +=
          "either the sweep writes there what it reads beyond the field, or one of the two fields "
          "has no starting values there";
      diagnosis.look_at.insert(diagnosis.look_at.begin(), look.words.bounds());
    }
    diagnosis.symptom = true;
    return diagnosis;
  }
  const Pattern pattern = find_pattern(none);
  if (infinite && none.count() == look.cells.count()) {
    return {
        (pattern.kind == Pattern::kAll ? "every point that a sweep computes" : pattern.words()) +
            format(": infinite from iteration %d on: the formula divides by 0, or a factor in "
                   "it has no value yet",
                   look.first),
        {"the line that computes value in " + look.words.sweep() +
         ", and each number that it divides or multiplies by"}};
  }
  if (pattern.kind == Pattern::kAll && look.inside.count() == look.cells.count()) {
    Diagnosis diagnosis{
        format("every point that a sweep computes is not a number from iteration %d on. Either "
               "the formula divides 0 by 0, or %s that it reads was never written",
               look.first, look.words.has_tile() ? "the tile, or the field," : "the field"),
        {look.words.has_tile() ? look.words.tile_loads()
                               : "the line that computes value in " + look.words.sweep(),
         "initialize_field, and which field the sweep reads"}};
    diagnosis.symptom = true;
    return diagnosis;
  }
  Diagnosis diagnosis;
  diagnosis.symptom = true;
  diagnosis.draw = pattern.kind == Pattern::kOther;
  diagnosis.cause =
      pattern.words() +
      format(": not a number from iteration %d on, as if read where nothing had been written",
             look.first);
  diagnosis.look_at.push_back(
      look.words.has_tile() ? look.words.tile_loads() + "; and which ones are read"
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
                                     ask_whether_set_back,
                                     ask_about_missing_starts,
                                     ask_about_the_start,
                                     ask_about_other_places,
                                     ask_about_one_value,
                                     ask_about_exchanged_indices,
                                     ask_about_ring,
                                     ask_about_shared_places,
                                     ask_about_boundary,
                                     ask_about_kept_values,
                                     ask_for_fit,
                                     ask_about_added_values,
                                     ask_about_lanes,
                                     ask_for_mix,
                                     ask_about_edges,
                                     ask_about_race_in_tile,
                                     ask_for_fit_inside_blocks,
                                     ask_about_other_n,
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
