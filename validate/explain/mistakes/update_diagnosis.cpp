// What is wrong with the update itself: which neighbours a point gets, and at which edges.

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "explain/field_look.h"
#include "explain/stencil_fit.h"
#include "run/text.h"

namespace validate {
namespace {

constexpr int kSmallestBlock = 8;

using Look = FieldLook;

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
               "last; and how they move up when a row is done: south becomes the old centre, then "
               "centre the old north";
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
    return {formula,
            {update + " (1 / 4 between integers is 0), and what it reads" +
             (look.words.has_tile() ? ": a tile of floats, filled before that" : "")}};
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
  diagnosis.look_at.push_back(
      look.words.has_strips()
          ? "how " + look.words.sweep() + " and what it calls put together a point's neighbours"
          : "where " + look.words.sweep() + " reads each of the four neighbours, and " + update);
  return diagnosis;
}

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

/// Of rows in which a warp's march ends: which end it is, as the neighbour says that is missing in
/// what their points became. (Where a march begins is not known: row 0 is no row of its own.)
void tell_ends_of_marches(const Look& look, std::vector<Edge>* ends) {
  const StencilFit fit = fit_stencil(look.before, look.found, look.inside);
  bool south = false, north = false;
  for (const Term& term : fit.terms) {
    const bool right = std::fabs(term.factor - 0.25) <= 1e-5 && term.di == 0 && !term.new_field;
    south |= right && term.dj == -1;
    north |= right && term.dj == 1;
  }
  for (Edge& edge : *ends) {
    const std::size_t at = edge.which.find(" of each warp's march");
    if (at == std::string::npos) continue;
    const bool known = fit.found && south != north;
    edge.which = (!known  ? "a row at an end"
                  : south ? "the last row"
                          : "the first row") +
                 edge.which.substr(at);
    edge.neighbour = !known ? "south or north" : south ? "north" : "south";
  }
}

/// What the wrong points of an edge became, where that is known.
std::string edge_values(const Look& look) {
  const bool none =
      look.all_of(look.inside, [&](int i, int j) { return std::isnan(look.at(look.found, i, j)); });
  if (none) return ". The points are not a number there: read, and never written?";
  const StencilFit fit = fit_stencil(look.before, look.found, look.inside);
  return fit.found ? ". A point becomes " + fit.words() + " there" : "";
}

}  // namespace

/// Whether the copy takes a row of one of the fields for one of another length. No more than
/// `at_most` points may differ then.
Diagnosis ask_about_row_of_copy(const Look& look, int other, bool i_inner, std::size_t at_most) {
  if (look.words.swaps() || !look.residual_is_right(look.first)) return {};
  const auto n = static_cast<std::size_t>(look.n), length = static_cast<std::size_t>(other);
  const Field made = i_inner ? look.expected : transposed(look.expected, look.n);
  const Field before = i_inner ? look.before : transposed(look.before, look.n);
  const Field& found = i_inner ? look.found : transposed(look.found, look.n);
  for (const bool reads : {true, false}) {
    Field copied = before;
    for (std::size_t b = 0; b < n; ++b) {
      for (std::size_t a = 0; a < n; ++a) {
        const std::size_t from = b * (reads ? length : n) + a, to = b * (reads ? n : length) + a;
        if (from < made.size() && to < made.size()) copied[to] = made[from];
      }
    }
    std::size_t wrong = 0;
    for (std::size_t k = 0; k < made.size(); ++k) wrong += !look.near(copied[k], found[k]);
    // Where two threads write, and behind the last row, anything may stand.
    if (wrong > n * (1 + static_cast<std::size_t>(std::abs(other - look.n))) || wrong > at_most) {
      continue;
    }
    return {format("the sweep is right; the copy %s as if a row had %d points in memory, and it "
                   "has %d",
                   reads ? "reads" : "writes", other, look.n),
            {"the two indices in " + look.words.copy() +
             ": the distance from one row to the next is n in both"}};
  }
  return {};
}

/// Whether the sweep is right but for the length of a row: it takes the memory of this grid for
/// that of one with another n. Everywhere, where it reads, where it writes, or for one neighbour.
Diagnosis ask_about_other_n(const Look& look) {
  if (look.words.has_strips()) return {};
  const int n = look.n;
  const auto size = static_cast<long long>(n) * n;
  struct Row {
    int read, taken, written;  // its length: where `neighbour` is read, the others, and the result
    int neighbour;             // -1: all four
  };
  // East, north, west, south where i is the inner index.
  constexpr int kAlong[] = {1, 0, -1, 0}, kAcross[] = {0, 1, 0, -1};
  const char* const kNames[] = {"east", "north", "west", "south"};
  for (const bool i_inner : {true, false}) {
    const Field before = i_inner ? look.before : transposed(look.before, n);
    const Field held = i_inner ? look.hidden : transposed(look.hidden, n);
    const Field& found = i_inner ? look.found : transposed(look.found, n);
    // The number of points that differ where rows are taken to have such lengths.
    auto wrong = [&](const Row& row) {
      Field made = held;
      const int end = row.neighbour < 0 && row.read == row.written ? row.read : n;
      for (int b = 1; b < end - 1; ++b) {
        for (int a = 1; a < end - 1; ++a) {
          float value[4];
          bool inside = true;
          for (int k = 0; k < 4; ++k) {
            const long long length = row.neighbour < 0 || row.neighbour == k ? row.read : row.taken;
            const long long at = (b + kAcross[k]) * length + a + kAlong[k];
            inside &= at >= 0 && at < size;
            if (inside) value[k] = before[at];
          }
          const long long to = static_cast<long long>(b) * row.written + a;
          if (inside && to < size)
            made[to] = 0.25f * ((value[0] + value[1]) + (value[2] + value[3]));
        }
      }
      std::size_t count = 0;
      for (long long k = 0; k < size; ++k) count += !look.near(made[k], found[k]);
      return count;
    };
    // What lies behind the last row nobody knows.
    const std::size_t bound = 2 * static_cast<std::size_t>(n);
    for (const int other : {n - 1, n - 2, n + 1, n + 2}) {
      if (wrong({other, other, other, -1}) <= bound) {
        return {format("the sweep takes the grid for one of %d x %d points in memory, and it has "
                       "%d x %d",
                       other, other, n, n),
                {"the n that " + look.words.sweep() + " is " +
                     (look.words.sweep_on_gpu() ? "launched" : "called") +
                     " with: n itself; its bounds make the interior of it",
                 "idx in " + look.words.sweep() + ": the same n as in main"}};
      }
      const std::string as_if =
          format(" as if a row had %d points in memory, and it has %d", other, n);
      const std::string index = ": the distance from row to row is n, as where the others are";
      if (wrong({other, other, n, -1}) <= bound) {
        return {"the sweep reads the old field" + as_if,
                {"the index with which f_old is read in " + look.words.sweep() +
                 ": the distance from one row to the next is n, as in f_new"}};
      }
      const std::size_t written = wrong({n, n, other, -1});
      if (const Diagnosis copy = ask_about_row_of_copy(look, other, i_inner, written);
          copy.known()) {
        return copy;
      }
      if (written <= bound) {
        return {"the sweep writes the new field" + as_if,
                {"the index with which the new value is stored in " + look.words.sweep() +
                 ": the distance from one row to the next is n, as in f_old"}};
      }
      for (int k = 0; k < 4; ++k) {
        if (wrong({other, n, n, k}) > bound) continue;
        const std::string name = kNames[i_inner ? k : k ^ 1];
        return {name + " is read" + as_if,
                {"the index of " + name + " in " + look.words.sweep() + index}};
      }
    }
  }
  return {};
}

/// Whether each new value is added to what the new field held, in place of being stored there.
Diagnosis ask_about_added_values(const Look& look) {
  if (look.inside.count() == 0 || look.ring.count() > 0) return {};
  const bool added = look.all_of(look.inside, [&](int i, int j) {
    return look.near(look.at(look.hidden, i, j) + look.at(look.expected, i, j),
                     look.at(look.found, i, j));
  });
  if (!added) return {};
  return {"each new value is added to what the new field held before the sweep",
          {"the line in " + look.words.sweep() + " that stores the new value: =, not +="}};
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
      {"from which field " + look.words.sweep() +
       " reads each neighbour, and its arguments: it reads one field and writes the other" +
       (look.words.has_tile() ? "; and whether the tile is overwritten while others still read it"
                              : "")}};
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
  bool ends = false, lanes = false, other = false;
  const StencilFit fit = fit_stencil(look.before, look.found, look.inside);
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
    if (side.taken != 0) {
      cause += format("; point (i%+d, j) is taken for it", side.taken);
    } else if (fit.found) {
      cause += ". A point becomes " + fit.words() + " there";
      other = true;
    }
    causes.push_back(cause);
  }
  const std::string both = causes.size() > 1 ? ", and " + causes[1] : "";
  diagnosis.cause = "wrong are " + causes[0] + both + ". All other columns are right";
  if (other) {
    diagnosis.look_at.push_back("how " + look.words.sweep() +
                                " and what it calls put together a point's neighbours");
  } else if (lanes) {
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

Diagnosis ask_about_edges(const Look& look) {
  if (look.inside.count() == 0 || look.ring.count() > 0) return {};
  const Pattern& pattern = look.pattern;
  const bool columns = pattern.kind == Pattern::kColumns || pattern.kind == Pattern::kInColumns;
  const bool rows = pattern.kind == Pattern::kRows || pattern.kind == Pattern::kInRows;
  const bool both = pattern.kind == Pattern::kUnion;
  const std::vector<Edge> sides = edges_of(pattern.columns, look.words.has_strips());
  std::vector<Edge> ends = edges_of(pattern.rows, look.words.has_strips());
  if (look.words.has_strips() && rows && ends.size() == 1) tell_ends_of_marches(look, &ends);
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

/// The wrong points alone are computed alike, and not as they should be.
Diagnosis ask_for_fit_where_wrong(const Look& look) {
  if (look.ring.count() > 0) return {};
  const StencilFit fit = fit_stencil(look.before, look.found, look.inside);
  if (!fit.found) return {};
  Diagnosis diagnosis = describe_fit(look, fit, "each of " + look.pattern.words());
  // Some whole rows: those with which a march begins or ends.
  if (look.words.has_strips() && look.pattern.kind == Pattern::kRows &&
      look.pattern.rows.at.size() > 1 && diagnosis.look_at[0] != march_words(look)) {
    diagnosis.look_at.insert(diagnosis.look_at.begin(), march_words(look));
  }
  return diagnosis;
}

}  // namespace validate
