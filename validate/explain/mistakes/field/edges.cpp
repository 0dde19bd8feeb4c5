// Points at the edges of blocks, strips and lanes, whose neighbours belong to another thread.

#include <cmath>
#include <string>
#include <vector>

#include "explain/looks/field_look.h"
#include "explain/looks/stencil_fit.h"
#include "explain/mistakes/families.h"
#include "run/text.h"

namespace validate {
namespace {

constexpr int kSmallestBlock = 8;
constexpr int kOfLane = 4;  // columns

/// Columns whose west or east neighbour a lane has to get from another one, or from beyond its strip.
Answer lanes(const FieldLook& look) {
  if (!look.interior_only()) return {};
  const std::vector<int> wrong = counts_of(look.inside, 'i');
  std::vector<int> firsts, lasts;
  for (int i = 1; i < look.n - 1; ++i) {
    if (wrong[i] == 0) continue;
    if (i % kOfLane != 0 && i % kOfLane != kOfLane - 1) return {};
    if (2 * wrong[i] < look.n) return {};
    (i % kOfLane == 0 ? firsts : lasts).push_back(i);
  }
  std::string causes;
  bool ends = false, lanes = false;
  const std::string fit = fitted(look);
  for (const bool east : {false, true}) {
    const std::vector<int>& columns = east ? lasts : firsts;
    if (columns.empty()) continue;
    // Lanes of one column each have neighbours in another warp where their 32 columns end.
    const auto& names = look.evidence.patient.names;
    const bool of_one = !names.empty() && names.count("float4") == 0;
    const int apart = columns.size() == 1 ? look.n : columns[1] - columns[0];
    const bool at_ends = apart > 16 * kOfLane || (apart > 4 * kOfLane && of_one);
    (at_ends ? ends : lanes) = true;
    causes += (causes.empty() ? "" : ", and ") + describe_lines(columns, 'i', look.n).words() +
              format(" (the %s of a %s), whose %s neighbour ", east ? "last" : "first",
                     at_ends ? "strip" : "lane's four", east ? "east" : "west") +
              (at_ends ? "lies beyond the strip"
               : east  ? "belongs to the next lane"
                       : "belongs to the previous lane") +
              (fit.empty() ? "" : ". A point becomes " + fit + " there");
  }
  return Answer("columns_at_ends_of_lanes")
      .with("columns", causes)
      .with("together", !fit.empty())
      .with("shuffles_first", lanes && fit.empty())
      .with("ends", ends);
}

/// A line at the edge of every block: which neighbour of its points belongs to the block next door.
struct Edge {
  std::string which;  ///< "the first row of each block (j % 32 == 0)"; of a march "a row at an end"
  std::string neighbour, halo;
};

/// Whether the lines are the first ones of every block, the last ones, or both. A single one lacks,
/// in what its points became, the neighbour on its side, wherever blocks begin. (Where a march
/// begins is not known: row 0 is no row of its own.)
std::vector<Edge> edges_of(const FieldLook& look, const Lines& lines, bool single) {
  std::vector<Edge> edges;
  if (lines.kind != Lines::kPeriodic || lines.period < kSmallestBlock) return edges;
  const bool columns = lines.letter == 'i', strips = look.has(kStrips);
  const StencilFit fit = fit_stencil(look.before, look.found, look.inside, look.hidden);
  single &= lines.classes.size() == 1;
  const int lacks = !single || !fit.found ? 0 : columns ? fit.lacks_column() : fit.lacks_row();
  for (int remainder : lines.classes) {
    const bool low = lacks != 0 ? lacks < 0 : remainder == 0;
    if (!low && lacks == 0 && remainder != lines.period - 1) return {};
    const bool unknown = strips && !columns && single && lacks == 0;
    const char* const of = !strips ? "block" : columns ? "strip" : "warp's march";
    edges.push_back({format("%s %s of each %s (%c %% %d == %d)",
                            unknown ? "a"
                            : low   ? "the first"
                                    : "the last",
                            unknown   ? "row at an end"
                            : columns ? "column"
                                      : "row",
                            of, lines.letter, lines.period, remainder),
                     unknown   ? "south or north"
                     : columns ? (low ? "west" : "east")
                               : (low ? "south" : "north"),
                     columns ? (low ? "the left column" : "the right column")
                             : (low ? "the bottom row" : "the top row")});
  }
  return edges;
}

Answer edges(const FieldLook& look) {
  if (!look.interior_only()) return {};
  const Pattern& pattern = look.pattern;
  const bool strips = look.has(kStrips);
  const bool columns = pattern.kind == Pattern::kColumns || pattern.kind == Pattern::kInColumns;
  const bool rows = pattern.kind == Pattern::kRows || pattern.kind == Pattern::kInRows;
  const bool both = pattern.kind == Pattern::kUnion;
  const std::vector<Edge> sides = edges_of(look, pattern.columns, columns);
  const std::vector<Edge> ends = edges_of(look, pattern.rows, rows);
  std::vector<Edge> all;
  if (columns || (both && !ends.empty())) all = sides;
  if (rows || (both && !sides.empty())) all.insert(all.end(), ends.begin(), ends.end());
  if (all.empty()) return {};
  std::vector<std::string> neighbours, halos, which;
  for (const Edge& edge : all) {
    which.push_back(edge.which);
    neighbours.push_back(edge.neighbour);
    halos.push_back(edge.halo);
  }
  const bool none =
      look.all_of(look.inside, [&](int i, int j) { return std::isnan(look.at(look.found, i, j)); });
  return Answer("edges_are_wrong")
      .with("which", join(which))
      .with("are", all.size() == 1 ? "is" : "are")
      .with("neighbours", join(neighbours, "or"))
      .with("halos", join(halos))
      .with("none", none)
      .with("formula", none ? "" : fitted(look))
      .with("columns", columns || both)
      .with("rows", rows || both)
      .with("between_warps", strips);
}

}  // namespace

// clang-format off
const Family kEdgeMistakes = {
    {"columns_at_ends_of_lanes", Strength::kShape, with(kStrips), of_field<lanes>,
     "the field is wrong only in {columns}",
     {"{?together|{put_together}}",
      "{?pairs|the sums of two neighbours that a lane keeps: which two each adds, and for which point it is used}",
      "{?shuffles_first|the shuffles: up by 1 brings what the previous lane has (its last point is west of this lane's "
      "first), down by 1 what the next lane has (its first point is east of this lane's last)}",
      "{?ends|{ends_of_strips}}"}},
    {"edges_are_wrong", Strength::kShape, kAnyProgram, of_field<edges>,
     "only {which} {are} wrong: points whose {neighbours} neighbour belongs to {?strips|another warp|a neighbouring "
     "block}{?none|. Their values are not numbers: were they read, but never written?}{?formula|. A point becomes "
     "{formula} there}",
     {"{?strips|{?columns|{ends_of_strips}}}", "{?strips|{?rows|{march}}}",
      "{?!strips|{?tile|the loads of {halos} of the tile's halo (from where, to where, by which threads), and the "
      "reads|how {sweep} gets the neighbours at the edges of a block}}"}},
};
// clang-format on

}  // namespace validate
