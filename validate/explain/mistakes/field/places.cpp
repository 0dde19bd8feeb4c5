// Values that are right, and stand in wrong places: indices that are exchanged, shifted, or lead
// two points to one place.

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "explain/looks/field_look.h"
#include "explain/mistakes/families.h"
#include "run/text.h"

namespace validate {
namespace {

constexpr int kSeveralBlocks = 100;  // points per side

/// Points of blocks that have their indices exchanged within each block, as a tile does it.
Answer exchanged_in_blocks(const FieldLook& look) {
  if (!look.interior_only() || !look.points_differ()) return {};
  for (int block : {8, 16, 32, 64}) {
    if (2 * block > look.n) break;
    std::size_t points = 0, fits = 0;
    look.all_of(look.interior(), [&](int i, int j) {
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
      return Answer("exchanged_in_each_block").with("block", block);
    }
  }
  return {};
}

Answer exchanged(const FieldLook& look) {
  // A tile with its indices exchanged looks, in a grid that is hardly larger than one block, as if
  // the whole field had them exchanged.
  if (!look.interior_only() || (look.has(kTile) && look.n < kSeveralBlocks)) return {};
  const Cells fits = Cells::where(look.n, [&](int i, int j) {
    return look.near(look.at(look.expected, j, i), look.at(look.found, i, j));
  });
  const std::size_t points = look.interior().count(), fit = fits.interior().count();
  if (fit == points) return Answer("exchanged_in_one_array");
  // A block's outermost points have neighbours in the halo.
  return Answer(look.has(kTile) && 10 * fit > 6 * points ? "exchanged_but_for_the_halo" : nullptr);
}

/// The sweep computes as if the field had one or two points a side less: it was given the interior's
/// number of points. A row then has other points.
Answer fewer_points(const FieldLook& look) {
  if (look.first != 1 || !look.points_differ()) return {};
  const int n = look.n;
  // Points per side; where the first one is in memory; and how many at the edge are left out.
  const int kinds[][3] = {{n - 1, 0, 1}, {n - 2, 0, 1}, {n - 2, n + 1, 1}, {n - 2, n + 1, 0}};
  for (const bool columns : {false, true}) {  // which of them stand one after the other in memory
    const auto stored = [&](const Field& f) { return columns ? transposed(f, n) : f; };
    const Field before = stored(look.before), found = stored(look.found);
    for (const auto& [m, first, edge] : kinds) {
      Field made = stored(look.hidden);
      for (int j = edge; j < m - edge; ++j) {
        for (int k = first + j * m + edge; k < first + (j + 1) * m - edge; ++k) {
          made[k] = (before[k + 1] + before[k + m] + before[k - 1] + before[k - m]) / 4;
        }
      }
      // The boundary, too, has sums of floats.
      if (std::equal(made.begin(), made.end(), found.begin(), look.near)) {
        return Answer(true).with("points", m);
      }
    }
  }
  return {};
}

/// Whether the sweep takes rows for n points long that are longer in memory, with padding.
Answer rows_without_padding(const FieldLook& look) {
  if (look.first != 1 || !look.points_differ()) return {};
  const int n = look.n;
  int tried = n;
  for (int multiple = 4; multiple <= 128; multiple *= 2) {  // of which a row's length is one
    const int pitch = (n + multiple - 1) / multiple * multiple;
    if (pitch == tried) continue;
    tried = pitch;
    const auto in_memory = [&](const Field& field) {
      Field padded(static_cast<std::size_t>(n) * pitch, NAN);
      for (int j = 0; j < n; ++j) std::copy_n(&field[j * n], n, &padded[j * pitch]);
      return padded;
    };
    const Field from = in_memory(look.before);
    // Which rows are taken for n points long, as bits: of those that are read the one to the south,
    // the point's own, and the one to the north; and the one that is stored.
    for (int wrong = 1; wrong < 16; ++wrong) {
      const auto row = [&](int j, int which) { return j * (wrong >> which & 1 ? n : pitch); };
      Field to = in_memory(look.hidden);
      for (int j = 1; j < n - 1; ++j) {
        const float* south = &from[row(j - 1, 0)];
        const float* own = &from[row(j, 1)];
        const float* north = &from[row(j + 1, 2)];
        float* stored = &to[row(j, 3)];
        stored[0] = own[0];
        for (int i = 1; i < n - 1; ++i) {
          stored[i] = (own[i + 1] + north[i] + own[i - 1] + south[i]) / 4;
        }
        stored[n - 1] = own[n - 1];
      }
      int points = 0, fits = 0;
      for (int j = 1; j < n - 1; ++j) {
        for (int i = 0; i < n; ++i) {
          points += !std::isnan(to[j * pitch + i]);
          fits += look.near(to[j * pitch + i], look.at(look.found, i, j));
        }
      }
      // Where a strip ends a lane may get its neighbour in another way.
      if (3 * points < n * n || 10 * fits < 9 * points) continue;
      const char* const read[] = {"",
                                  "the row to the south",
                                  "a point's own row",
                                  "some rows",
                                  "the row to the north",
                                  "some rows",
                                  "some rows",
                                  "rows"};
      return Answer("rows_taken_for_n_points")
          .with("read", read[wrong & 7])
          .with("stored", wrong >= 8)
          .with("n", n)
          .with("pitch", pitch);
    }
  }
  return {};
}

/// Whether the wrong points of the boundary, all on the sides i = 0 and i = n - 1, hold what other
/// rows began with. (In rows that nothing has stored no point is a number. If ranks share the rows,
/// it is rather a rank that has others than it should.)
Answer shared_places(const FieldLook& look) {
  if (look.first != 1 || look.ring.count() < 2 || look.evidence.wrong.run.ranks > 1) return {};
  const int n = look.n;
  std::vector<std::string> examples;
  int count = 0;
  for (int j = 0; j < n; ++j) {
    for (const int i : {0, n - 1}) {
      const float value = look.at(look.found, i, j);
      if (!look.ring.has(i, j) || std::isnan(value)) continue;
      int row = 0;
      while (row < n && look.at(look.start_old, i, row) != value) ++row;
      if (row == n) return {};
      ++count;
      if (i == 0 && examples.size() < 3) {
        examples.push_back(format("row %d holds row %d", j, row));
      }
    }
  }
  if (examples.empty()) return {};
  return Answer("rows_in_the_place_of_others")
      .with("rows", join(examples) + (count > 3 ? ", and so on" : ""))
      .with("only_kept", look.inside.count() == 0);
}

/// Whether all wrong rows, or columns, repeat others: those next to them, or those of the block
/// before.
Answer repeated_lines(const FieldLook& look) {
  constexpr int kFewest = 8;
  if (!look.points_differ() || !look.interior_only()) return {};
  const int n = look.n;
  for (const bool of_rows : {true, false}) {
    const auto value = [&](int line, int k) {
      return of_rows ? look.at(look.found, k, line) : look.at(look.found, line, k);
    };
    std::vector<int> wrong;  // the lines of which most points are
    const std::vector<int> points = counts_of(look.cells, of_rows ? 'j' : 'i');
    for (int line = 1; line < n - 1; ++line) {
      if (2 * points[line] > n) wrong.push_back(line);
    }
    for (const int apart : {1, 8, 16, 32, 64, 128}) {
      const auto repeats = std::count_if(wrong.begin(), wrong.end(), [&](int line) {
        int same = 0;
        for (int k = 1; k < n - 1; ++k)
          same += value(line, k) == value(std::max(line - apart, 0), k);
        return 10 * same > 9 * (n - 2);  // a block's last line has a halo of its own
      });
      if (repeats < kFewest || 5 * repeats < 4 * static_cast<int>(wrong.size())) continue;
      return Answer("lines_repeat")
          .with("lines", of_rows ? "rows" : "columns")
          .with("letter", of_rows ? "y" : "x")
          .with("from", format("%c = %d", of_rows ? 'j' : 'i', wrong.front()))
          .with("apart", apart > 1 ? std::to_string(apart) : "");
    }
  }
  return {};
}

/// Whether the blocks compute what belongs to points farther and farther away: what they load lies
/// farther apart than what they store.
Answer shift_of_blocks(const FieldLook& look) {
  if (!look.points_differ() || look.ring.count() > 0) return {};
  constexpr int kBlock = 32, kEdge = 8, kFarthest = kBlock - 1;
  const int n = look.n;
  if (n / kBlock < 3) return {};
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
  for (const int first : {0, kBlock}) {  // i = blockIdx.x + blockDim.x + ... adds one to all
    for (int by = -kFarthest; by <= kFarthest; ++by) {
      for (const bool along_i : {true, false}) {
        bool fits = by != 0;
        for (int k = 0; fits && k < 3; ++k) {
          const int off = first + k * by;
          fits = along_i ? shifted(k, 1, off, 0) : shifted(1, k, 0, off);
        }
        if (!fits) continue;
        return Answer("blocks_read_farther_and_farther_off")
            .with("letter", along_i ? "x" : "y")
            .with("first", first == 0 ? "" : std::to_string(first))
            .with("by", first + by)
            .with("twice", first + 2 * by)
            .with("distance", kBlock + by);
      }
    }
  }
  return {};
}

}  // namespace

std::string sides_of(const FieldLook& look, int* count) {
  const int n = look.n;
  bool wrong[4] = {};
  for (int k = 1; k < n - 1; ++k) {
    wrong[0] |= look.ring.has(0, k);
    wrong[1] |= look.ring.has(n - 1, k);
    wrong[2] |= look.ring.has(k, 0);
    wrong[3] |= look.ring.has(k, n - 1);
  }
  *count = static_cast<int>(std::count(wrong, wrong + 4, true));
  return sides_in_words(wrong);
}

// clang-format off
const Family kPlaceMistakes = {
    {"exchanged_in_one_array", Strength::kModel, kAnyProgram, of_field<exchanged>,
     "the interior is the correct one with i and j exchanged, but the boundary is not: i and j are exchanged in one "
     "array's index, but not in the others'",
     {"every idx(...) in {sweep}: idx(i, j, n), never idx(j, i, n); and an index that is written without idx: it needs "
      "idx's formula", "{?!swaps|every idx(...) in {copy}, too}"}},
    {"exchanged_but_for_the_halo", Strength::kModel, with(kTile), of_field<exchanged>,
     "most points (i, j) hold what point (j, i) should, but not those at the edges of blocks: i and j are exchanged "
     "where a block's own points are loaded, but not where its halo is",
     {"the index in {sweep} from which a thread loads its own point: idx(i, j, n), or j * n + i"}},
    {"sweep_of_fewer_points", Strength::kModel, kAnyProgram, of_field<fewer_points>,
     "the sweep computes as if the field had {points} points per side, and not {n}: so it takes the points of a row "
     "for those of others",
     {"the n that {sweep} is given where it is {?kernels|launched|called}, and what it hands on to idx: all points per "
      "side, the boundary included"}},
    {"rows_taken_for_n_points", Strength::kModel, with(kPitch), of_field<rows_without_padding>,
     "the sweep {?read|reads {read}{?stored| and }}{?stored|stores rows} as if a row had {n} points in memory: with "
     "its padding it has {pitch}",
     {"what j is multiplied by in {sweep}: the pitch, as in idx, and never n"}},
    {"exchanged_in_each_block", Strength::kModel, kAnyProgram, of_field<exchanged_in_blocks>,
     "within each block of {block} x {block} points, i and j are exchanged",
     {"{?tile|the tile's indices where it is loaded and where it is read: tile[y][x] in both places, y "
      "first|threadIdx.x and threadIdx.y in {sweep}: x belongs to i, y to j, in every index}"}},
    {"rows_in_the_place_of_others", Strength::kModel, with(kStrips), of_field<shared_places>,
     "{?only_kept|only points that keep their values are wrong, and have those of other rows: {rows}|rows are in the "
     "wrong place, as the boundary's points in them show: {rows}}",
     {"{?only_kept|what these points get: the row's own old values, taken before the sweep puts the next row in its "
      "place}", "{?only_kept||{?passes|the row that is stored: each level is one row behind the previous one, so row y "
      "- kSweeps comes out of the last of kSweeps levels; and the row that is fetched: one row further in each "
      "round|the rows that a warp loads ahead: which one each load brings, which one it becomes (north, when its turn "
      "comes), and that none is loaded twice or left out}}", "{?!only_kept|whether what is stored in row j was "
      "computed with row j as the centre}"}},
    {"lines_repeat", Strength::kShape, kAnyProgram, of_field<repeated_lines>,
     "from {from} on {?apart|the {lines} repeat those {apart} before them|all {lines} get the same values}, as if read "
     "from the same points",
     {"the index with which {sweep} reads{?tile|, or loads its tile}: {?apart|whether blockIdx.{letter} is in "
      "it|what it is limited by: n - 1, the field's last point, and nothing that belongs to a block{?kernels|; and "
      "whether blockIdx.{letter} is in it}}"}},
    {"blocks_read_farther_and_farther_off", Strength::kModel, without(kStrips), of_field<shift_of_blocks>,
     "the blocks read points that lie {?first||farther and farther }off: {?first|those of blockIdx.{letter} == 0 by "
     "{first}, }those of blockIdx.{letter} == 1 by {by}, those of blockIdx.{letter} == 2 by {twice}. Each block's "
     "points begin {distance} after the previous block's, not 32",
     {"what blockIdx.{letter} is multiplied by, where points are read: a block's number of points, without the halo "
      "(blockDim.{letter} is its number of threads, which may be another)"}},
};
// clang-format on

}  // namespace validate
