// What is wrong with a field whose values are right, and stand in places that are not theirs, or
// were never put there.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "explain/field_look.h"
#include "run/text.h"

namespace validate {
namespace {

using Look = FieldLook;

/// Values that many points share would fit anything.
bool points_differ(const Look& look) { return look.problem.kind() == lab::ProblemKind::kProbe; }

/// How a point (i, j) is called, and which one it is.
struct Place {
  const char *i, *j;
  std::function<int(int, int)> at_i, at_j;
};

const std::string kCopyOfResult =
    "what run.finish is given in main: it is asked for some rows at a time, from row j on";

}  // namespace

std::string sides_of(const Look& look, int* count) {
  const int n = look.n;
  int wrong[4] = {};
  for (int k = 1; k < n - 1; ++k) {
    wrong[0] += look.ring.has(0, k);
    wrong[1] += look.ring.has(n - 1, k);
    wrong[2] += look.ring.has(k, 0);
    wrong[3] += look.ring.has(k, n - 1);
  }
  std::vector<std::string> sides;
  if (wrong[0]) sides.push_back("column i = 0");
  if (wrong[1]) sides.push_back(format("column i = %d", n - 1));
  if (wrong[2]) sides.push_back("row j = 0");
  if (wrong[3]) sides.push_back(format("row j = %d", n - 1));
  *count = static_cast<int>(sides.size());
  if (*count == 4) return "the boundary";
  if (*count == 0) return "the boundary's corners";
  return "the boundary's " + join(sides);
}

/// Whether the result is right up to one point, and from there on nobody has written it.
Diagnosis ask_about_unfinished_copy(const Look& look) {
  if (!look.words.swaps()) return {};  // until then nothing is copied
  std::size_t first = 0;
  while (first < look.found.size() && look.found[first] == look.expected[first]) ++first;
  if (first == 0 || look.found.size() < first + static_cast<std::size_t>(look.n)) return {};
  const bool rest_is_zero = std::all_of(look.found.begin() + static_cast<std::ptrdiff_t>(first),
                                        look.found.end(), [](float v) { return v == 0; });
  const bool rest_is_none = std::all_of(look.found.begin() + static_cast<std::ptrdiff_t>(first),
                                        look.found.end(), [](float v) { return std::isnan(v); });
  // Sweeps of what is not a number leave no residual that is one.
  if (!rest_is_zero && !(rest_is_none && look.residual_is_right(look.first))) return {};
  std::string cause =
      format("of the result the first %zu of %zu points are right, and the rest was never copied",
             first, look.found.size());
  if (first == look.found.size() / sizeof(float)) {
    cause += ": a quarter of it, as if a float were one byte";
  }
  return {cause,
          {"what run.finish is given in main: cudaMemcpy counts bytes, so many as rows * n "
           "floats have: * sizeof(float)"}};
}

// ---- Rows that are not where they are looked for

/// Whether the field is the right one, read (or written) as if a row had another length than it has
/// in memory: row j is shifted by j times the difference.
Diagnosis ask_about_pitch(const Look& look) {
  if (!look.words.swaps()) return {};  // until then rows have no padding, and nothing is copied
  const int n = look.n;
  constexpr int kLargestPadding = 256, kRowsLookedAt = 4;
  // What stands `at` a place of memory whose rows have `length` floats, of which n are points.
  auto differs = [&](long long at, int length, float found) {
    const long long i = at % length, j = at / length;
    if (i >= n || j >= n) return false;  // padding, or what nobody knows
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
      for (int j = 0; same && j < kRowsLookedAt; ++j) {
        for (int i = 0; same && i < n; ++i) {
          const long long at = static_cast<long long>(j) * stride + i;
          same = !differs(at, length, look.at(look.found, i, j));
          compared += at % length < n && j > 0;
        }
      }
      if (!same || compared < 2 * static_cast<std::size_t>(n)) continue;
      return {format("the values are right, and stand in wrong places: row j is shifted by j * %d "
                     "points, as if a row were %s it is in memory (%d floats, and %d were taken "
                     "for it)",
                     padding, too_short ? "shorter than" : "longer than", length, stride),
              {"the pitches and the width of cudaMemcpy2D in main: the width is the bytes that are "
               "copied of a row, a pitch the bytes from one row to the next, padding included, "
               "each in its own memory",
               "idx and what is allocated: the same length of a row everywhere"}};
    }
  }
  return {};
}

/// Which rows' values the boundary's wrong points hold, where these are in the same columns: "row 4
/// holds row 3, ...". "" otherwise.
std::string rows_taken(const Look& look) {
  const int n = look.n;
  std::vector<std::string> examples;
  std::size_t count = 0;
  const bool in_columns = look.all_of(look.ring, [&](int i, int j) {
    int row = 0;
    while (row < n && look.at(look.start_old, i, row) != look.at(look.found, i, j)) ++row;
    if (row == n) return false;
    ++count;
    const std::string example = format("row %d holds row %d", j, row);
    if (i == 0 && examples.size() < 3) examples.push_back(example);
    return true;
  });
  if (!in_columns || examples.empty()) return "";
  return join(examples) + (count > examples.size() ? ", and so on" : "");
}

/// Whether the wrong points of the boundary hold what other points began with.
Diagnosis ask_about_shared_places(const Look& look) {
  if (look.first != 1 || look.ring.count() < 3) return {};
  // Values that many points share say nothing.
  Field starts = look.start_old;
  std::sort(starts.begin(), starts.end());
  bool elsewhere = true;
  look.all_of(look.ring, [&](int i, int j) {
    const auto range = std::equal_range(starts.begin(), starts.end(), look.at(look.found, i, j));
    elsewhere &= range.second - range.first == 1;
    return elsewhere;
  });
  if (!elsewhere) return {};
  int sides = 0;
  // Where ranks share the rows, it is rather a rank that has others than it should.
  const bool alone = look.wrong.run.ranks <= 1;
  if (const std::string rows = rows_taken(look);
      alone && look.words.has_strips() && !rows.empty()) {
    return {
        "rows stand in the place of others, as the boundary's points in them show: " + rows,
        {look.words.has_passes()
             ? "the row that is stored: each level is a row behind the one before, so row y - "
               "kSweeps comes out of the last of kSweeps levels; and the row that is fetched: one "
               "further in each round"
             : "the rows that a warp loads ahead: which one each load brings, which one it "
               "becomes (north, when its turn comes), and that none is loaded twice or left out",
         "that what is stored in row j was swept where row j was the centre"}};
  }
  const bool exchanged = look.all_of(look.ring, [&](int i, int j) {
    return look.at(look.start_old, j, i) == look.at(look.found, i, j);
  });
  if (exchanged && look.inside.count() == 0) {
    return {
        "the interior is right, and each point (i, j) of the boundary holds what point (j, i) "
        "began with: f_new got its starting values with i and j exchanged, or the copy "
        "exchanges them there",
        {"where f_new gets its starting values: point (i, j) stands at idx(i, j, n), as in "
         "f_old",
         "the two indices in " + look.words.copy() + ": idx(i, j, n) in both"}};
  }
  return {"points of " + sides_of(look, &sides) +
              " hold the values that other points began with. Either idx gives two points the same "
              "place in memory, or values are given (or copied) to other points than their own",
          {"idx: each point has a place of its own, from 0 to n * n - 1",
           "start(i, j) in initialize_field"}};
}

// ---- Copies

/// Whether of each row some points were copied, and row stands behind row as if it had no more.
Diagnosis ask_about_width(const Look& look) {
  if (!look.words.swaps() || !points_differ(look)) return {};
  const int n = look.n;
  constexpr int kRowsLookedAt = 4;
  for (int width = n / 2; width >= 4; --width) {
    bool same = true;
    for (int k = 0; same && k < kRowsLookedAt * width; ++k) {
      same = look.near(look.found[k], look.at(look.expected, k % width, k / width));
    }
    if (!same) continue;
    std::string cause = format(
        "of each row only the first %d of %d points are copied, and one row's are behind the "
        "other's",
        width, n);
    if (width == n / static_cast<int>(sizeof(float))) {
      cause += ": a quarter of them, as if a float were one byte";
    }
    return {cause,
            {"the width and the pitches of cudaMemcpy2D in main: they are bytes, so many as n "
             "floats have (n * sizeof(float)), not points"}};
  }
  return {};
}

/// Whether the rows from one on hold what stands in memory from another point on.
Diagnosis ask_where_a_part_begins(const Look& look, int row) {
  const auto n = static_cast<std::size_t>(look.n);
  const float* const found = &look.found[row * n];
  for (std::size_t begin = 0; begin < row * n; ++begin) {
    std::size_t k = 0;
    while (k < n && look.near(look.expected[begin + k], found[k])) ++k;
    if (k < n) continue;
    const bool stored = look.words.has_strips();
    Diagnosis diagnosis{
        format("the rows from j = %d on hold what belongs to point (%zu, %zu) and those behind it: "
               "that part of the result is %s another place than its own",
               row, begin % n, begin / n, stored ? "stored in, or copied from," : "copied from"),
        {kCopyOfResult + ", so the copy begins at f_old + idx(0, j, n)"}};
    if (stored) {
      diagnosis.look_at.insert(
          diagnosis.look_at.begin(),
          look.words.has_passes()
              ? "the row that the kernel stores in each turn: when row y has arrived, row y - "
                "kSweeps has all the sweeps of the pass"
              : "the row that the kernel stores in each turn: the one between south and north");
    }
    return diagnosis;
  }
  return {};
}

/// Whether the first rows are right, and the first ones come again where others should follow.
Diagnosis ask_about_repeated_rows(const Look& look) {
  if (!look.words.swaps() || !points_differ(look)) return {};
  const int n = look.n;
  auto same = [&](int j, int other) {
    for (int i = 0; i < n; ++i) {
      if (!look.near(look.at(look.found, i, j), look.at(look.expected, i, other))) return false;
    }
    return true;
  };
  int first = 0;
  while (first < n && same(first, first)) ++first;
  if (first == 0 || first == n) return {};
  for (int j = first; j < n; ++j) {
    if (!same(j, j % first)) return ask_where_a_part_begins(look, first);
  }
  return {format("the rows from j = %d on hold the rows from 0 on again: every part of the result "
                 "is copied from the field's beginning",
                 first),
          {kCopyOfResult + ", so the copy begins at f_old + idx(0, j, n)"}};
}

// ---- Points that hold what belongs to other ones

/// Whether every point holds what belongs to the point that other indices lead to.
Diagnosis ask_about_other_places(const Look& look) {
  if (!points_differ(look) || look.first != 1) return {};
  const int n = look.n;
  auto i_itself = [](int i, int) { return i; };
  auto j_itself = [](int, int j) { return j; };
  auto after = [](int k, int by) { return k + by; };
  using namespace std::placeholders;
  std::vector<Place> places = {{"i", "i", i_itself, i_itself}, {"j", "j", j_itself, j_itself}};
  // Beside a boundary that is right, a shift is one of the neighbours that are read.
  if (look.ring.count() > 0) {
    for (int by : {-1, 1}) {
      const char* const words[2] = {by < 0 ? "i - 1" : "i + 1", by < 0 ? "j - 1" : "j + 1"};
      places.push_back({words[0], "j", std::bind(after, _1, by), j_itself});
      places.push_back({"i", words[1], i_itself, std::bind(after, _2, by)});
    }
  }
  for (const Place& place : places) {
    std::size_t points = 0, fits = 0;
    for (int j = 1; j < n - 1; ++j) {
      for (int i = 1; i < n - 1; ++i) {
        const int a = place.at_i(i, j), b = place.at_j(i, j);
        if (std::min(a, b) < 1 || std::max(a, b) >= n - 1) continue;
        ++points;
        fits += look.near(look.at(look.expected, a, b), look.at(look.found, i, j));
      }
    }
    // What stands at an end of memory may be anything.
    if (fits + static_cast<std::size_t>(n) < points) continue;
    // What a sweep stores elsewhere reaches one side of the boundary, a copy moves all of it.
    int sides = 0;
    sides_of(look, &sides);
    const bool copied = !look.words.swaps() && look.residual_is_right(1) && sides != 1;
    return {format("each point (i, j) holds the value that belongs to point (%s, %s)", place.i,
                   place.j) +
                (copied ? "; the sweep is right, so it is the copy" : ""),
            {copied       ? "the two indices in " + look.words.copy() + ": idx(i, j, n) in both"
             : sides == 1 ? "the index that the new value is stored with in " + look.words.sweep()
                          : "idx, and every index in " + look.words.sweep() +
                                ": i and j, each in its own place"}};
  }
  return {};
}

/// Whether all points of a row, or of a column, hold one value: as if they had one place.
Diagnosis ask_about_one_value(const Look& look) {
  if (!points_differ(look)) return {};
  const int n = look.n;
  bool rows = true, columns = true;
  for (int a = 0; a < n; ++a) {
    for (int b = 1; b < n; ++b) {
      rows &= look.at(look.found, b, a) == look.at(look.found, 0, a);
      columns &= look.at(look.found, a, b) == look.at(look.found, a, 0);
    }
  }
  if (rows == columns) return {};
  return {format("all points of a %s hold one value: they have the same place in memory",
                 rows ? "row" : "column"),
          {format("idx: it must depend on %c, too; each point has a place of its own, from 0 to "
                  "n * n - 1",
                  rows ? 'i' : 'j')}};
}

// ---- Points that never got a value

/// Whether the field is what a sweep makes of one in which some rows or columns have no starting
/// values: nothing is a number there, or they are 0. The boundary shows which.
Diagnosis ask_about_missing_starts(const Look& look) {
  if (look.first != 1 || look.ring.count() == 0 || !points_differ(look)) return {};
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
  if (rows.empty() && columns.empty()) return {};
  // Where nothing else is left, it is no matter of starting values.
  const std::size_t all = n;
  if (rows.size() == all || columns.size() == all) return {};
  Field start = look.start_old;
  for (const bool along_i : {true, false}) {
    for (int line : along_i ? rows : columns) {
      for (int k = 0; k < n; ++k) {
        const int i = along_i ? k : line, j = along_i ? line : k;
        start[static_cast<std::size_t>(j) * n + i] =
            along_i ? look.at(look.found, 0, line) : look.at(look.found, line, 0);
      }
    }
  }
  const Field made = Sweeps(n, start).after(1);
  for (std::size_t k = 0; k < made.size(); ++k) {
    if (std::isnan(made[k]) != std::isnan(look.found[k])) return {};
    if (!std::isnan(made[k]) && !look.near(made[k], look.found[k])) return {};
  }
  std::vector<std::string> which;
  for (const bool along_i : {true, false}) {
    const std::vector<int>& lines = along_i ? rows : columns;
    const char letter = along_i ? 'j' : 'i';
    const char* const many = along_i ? "rows" : "columns";
    if (lines.empty()) continue;
    if (lines.size() == 1) {
      which.push_back(format("the %s %c = %d", along_i ? "row" : "column", letter, lines[0]));
    } else if (lines.back() - lines.front() + 1 == static_cast<int>(lines.size())) {
      which.push_back(format("the %s %c = %d..%d", many, letter, lines.front(), lines.back()));
    } else {
      which.push_back(format("%zu %s", lines.size(), many));
    }
  }
  return {join(which) + (rows.size() + columns.size() == 1 ? " has" : " have") +
              " no starting values: the sweep is right, and reads there what nothing has written",
          {look.words.swaps()
               ? "the kernel that writes the starting values, and its launch: every point (i, j), "
                 "0 to n - 1, has a thread (a launch grid that is rounded up), or a turn of a "
                 "thread's loop"
               : "the loops of initialize_field: they go over all points, i and j from 0 to n - "
                 "1"}};
}

// ---- Lines and blocks that are mixed up

/// Whether the blocks compute what belongs to points farther and farther away: what they load lies
/// farther apart than what they store.
Diagnosis ask_about_shift_of_blocks(const Look& look) {
  if (look.words.has_strips() || !points_differ(look) || look.ring.count() > 0) return {};
  constexpr int kBlock = 32, kEdge = 8, kFarthest = kBlock - 1;
  const int n = look.n, blocks = n / kBlock;
  if (blocks < 3) return {};
  // Whether block (x, y) computes what belongs to the points (di, dj) away from its own.
  auto shifted = [&](int x, int y, int di, int dj) {
    for (int j = y * kBlock + kEdge; j < (y + 1) * kBlock - kEdge; ++j) {
      for (int i = x * kBlock + kEdge; i < (x + 1) * kBlock - kEdge; ++i) {
        const int a = i + di, b = j + dj;
        if (a < 1 || b < 1 || a >= n - 1 || b >= n - 1) return false;
        if (!look.near(look.at(look.expected, a, b), look.at(look.found, i, j))) return false;
      }
    }
    return true;
  };
  for (int by = -kFarthest; by <= kFarthest; ++by) {
    if (by == 0) continue;
    for (const bool along_i : {true, false}) {
      bool fits = true;
      for (int k = 0; fits && k < 3; ++k) {
        fits = along_i ? shifted(k, 1, k * by, 0) : shifted(1, k, 0, k * by);
      }
      if (!fits) continue;
      const char letter = along_i ? 'x' : 'y';
      return {
          format("the blocks read points that lie farther and farther off: those of blockIdx.%c "
                 "== 1 by %d, those of blockIdx.%c == 2 by %d. One block's points begin %d after "
                 "the other's, not %d",
                 letter, by, letter, 2 * by, kBlock + by, kBlock),
          {format("what blockIdx.%c is multiplied by, where points are read: a block's number of "
                  "points, without the halo (blockDim.%c is its number of threads, which may be "
                  "another)",
                  letter, letter)}};
    }
  }
  return {};
}

/// Whether the wrong rows (or columns) are right but for one neighbouring line, in place of which
/// another one is read.
Diagnosis ask_about_lines_taken(const Look& look) {
  if (!points_differ(look) || look.inside.count() == 0 || look.ring.count() > 0) return {};
  const int n = look.n;
  const Field& f = look.before;
  struct Side {
    const char* words;
    bool rows;
    int low, centre, high;  // which line is looked for
  };
  constexpr Side kSides[] = {{"south", true, 1, 0, 0},
                             {"north", true, 0, 0, 1},
                             {"centre, with east and west,", true, 0, 1, 0},
                             {"west", false, 1, 0, 0},
                             {"east", false, 0, 0, 1}};
  for (const Side& side : kSides) {
    const bool rows = side.rows;
    auto value = [&](int along, int line) {
      return static_cast<double>(rows ? look.at(f, along, line) : look.at(f, line, along));
    };
    std::vector<std::string> examples;
    std::size_t lines = 0;
    bool explained = true;
    for (int line = 1; explained && line < n - 1; ++line) {
      std::vector<int> points;
      for (int k = 1; k < n - 1; ++k) {
        if (rows ? look.inside.has(k, line) : look.inside.has(line, k)) points.push_back(k);
      }
      if (points.empty()) continue;
      int taken = -1;
      for (int other = 0; taken < 0 && other < n; ++other) {
        const int low = side.low ? other : line - 1, high = side.high ? other : line + 1;
        const int centre = side.centre ? other : line;
        const bool fits = std::all_of(points.begin(), points.end(), [&](int k) {
          const double mean =
              0.25 * (value(k + 1, centre) + value(k, high) + value(k - 1, centre) + value(k, low));
          return look.near(mean,
                           rows ? look.at(look.found, k, line) : look.at(look.found, line, k));
        });
        if (fits) taken = other;
      }
      explained = taken >= 0;
      ++lines;
      if (explained && examples.size() < 3) {
        const char* const name = rows ? "row" : "column";
        examples.push_back(format("%s %d takes %s %d", name, line, name, taken));
      }
    }
    if (!explained || lines == 0) continue;
    return {
        format("all is right but for one line that is read: for %s ", side.words) + join(examples) +
            (lines > examples.size() ? ", and so on" : ""),
        {look.words.has_strips() && rows
             ? "the rows that a warp has in its registers: after each row that was swept centre "
               "becomes south, north becomes centre, and the next row that was loaded becomes "
               "north"
             : format("where %s is read in ", side.words) + look.words.sweep() +
                   (look.words.has_tile()
                        ? ", and where the tile's entry for it is loaded: by one thread, and once"
                        : "")}};
  }
  return {};
}

/// Whether only points are wrong that read the boundary.
Diagnosis ask_beside_the_boundary(const Look& look) {
  if (look.inside.count() == 0 || look.ring.count() > 0) return {};
  const int n = look.n;
  int side[4] = {};
  const bool beside = look.all_of(look.inside, [&](int i, int j) {
    side[0] += i == 1, side[1] += i == n - 2, side[2] += j == 1, side[3] += j == n - 2;
    return i == 1 || i == n - 2 || j == 1 || j == n - 2;
  });
  if (!beside) return {};
  const char* const kNames[4] = {"column i = 0", "column i = n - 1", "row j = 0", "row j = n - 1"};
  std::vector<std::string> names;
  for (int k = 0; k < 4; ++k) {
    if (4 * side[k] > n) names.push_back(kNames[k]);
  }
  if (names.empty()) return {};
  const std::string where = names.size() == 4 ? "the boundary" : "the boundary's " + join(names);
  return {"only the points beside " + where +
              " are wrong: what they read in its place is not what " + "stands there",
          {"how " + look.words.sweep() +
           " gets the points of the boundary: it reads all points, 0 "
           "to n - 1, and writes 1 to n - 2" +
           (look.words.has_tile() ? "; so the tile is loaded from 0 to n - 1, too" : "")}};
}

}  // namespace validate
