// Rows, columns, blocks and threads whose part is missing in the sum, or counted several times; and
// the precision of the sum.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "explain/looks/sum_look.h"
#include "explain/mistakes/families.h"
#include "run/text.h"

namespace validate {
namespace {

/// Some of the lines along one direction: [first, last], or with a period their remainders.
struct Part {
  int period = 0;  // 0: none
  int first, last;
  enum Kind { kOnly, kLeftOut, kTwice } kind;
};

/// Whether each sweep's sum is that of the lines alone, of all others, or of all and these once
/// more.
bool is_part(const SumLook& look, const std::vector<double>& lines, Part::Kind kind) {
  for (std::size_t k = 0; k < look.sweeps.size(); ++k) {
    const double total = look.sweeps[k].total;
    const double expected = kind == Part::kOnly      ? lines[k]
                            : kind == Part::kLeftOut ? total - lines[k]
                                                     : total + lines[k];
    if (!(lines[k] > 0) || !look.is_sum(look.sweeps[k], expected)) return false;
  }
  return true;
}

/// Looks for lines of which the sum consists, which it lacks, or which it holds twice. `sums` are
/// each sweep's sums along the lines (of a period: of the lines with that remainder).
bool find_part(const SumLook& look, const std::vector<std::vector<double>>& sums, int begin,
               int end, Part* part) {
  for (int first = begin; first <= end; ++first) {
    std::vector<double> sum(look.sweeps.size(), 0.0);
    for (int last = first; last <= end; ++last) {
      for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += sums[k][last];
      if (first == begin && last == end) continue;  // all of it
      for (Part::Kind kind : {Part::kOnly, Part::kLeftOut, Part::kTwice}) {
        if (!is_part(look, sum, kind)) continue;
        *part = {part->period, first, last, kind};
        // The fewer are named: "only the last row is there", not "97 rows are left out".
        if (kind != Part::kLeftOut || 2 * (last - first + 1) <= end - begin + 1) return true;
        if (first == begin) *part = {part->period, last + 1, end, Part::kOnly};
        if (last == end) *part = {part->period, begin, first - 1, Part::kOnly};
        return true;
      }
    }
  }
  return false;
}

std::string lines_words(const Part& part, char letter) {
  std::vector<int> lines(part.last - part.first + 1);
  std::iota(lines.begin(), lines.end(), part.first);
  return part.period == 0 ? lines_in_words(lines, letter)
                          : periodic_lines(lines, part.period, letter);
}

/// The rank whose rows alone, all of them, are in the sum; -1: there is none.
int rank_of(const SumLook& look, const Part& part, char letter) {
  if (part.kind != Part::kOnly || part.period != 0 || letter != 'j') return -1;
  for (int r = 0; look.ranks > 1 && r < look.ranks; ++r) {
    if (part.first == std::max(1, first_row(look.n, r, look.ranks)) &&
        part.last == std::min(look.n - 1, first_row(look.n, r + 1, look.ranks)) - 1) {
      return r;
    }
  }
  return -1;
}

Answer describe_part(const SumLook& look, const Part& part, char letter) {
  const int rank = rank_of(look, part, letter);
  const bool one = part.period == 0 && part.first == part.last;
  // Whose part it is: a lane's, a warp's, or whole rows.
  const char* of = !look.has(kKernels)                                       ? "loops"
                   : look.has(kStrips) && letter == 'i' && part.period == 4  ? "lane"
                   : letter == 'i' && (part.period > 0 || look.has(kStrips)) ? "lanes"
                   : part.period > 0                                         ? "warps"
                   : look.has(kStoredParts)                                  ? "stored"
                                                                             : "threads";
  Answer answer(rank >= 0                     ? "sum_of_one_rank"
                : part.kind == Part::kTwice   ? "lines_are_counted_twice"
                : part.kind == Part::kLeftOut ? "lines_are_left_out_of_the_sum"
                                              : "only_some_lines_are_in_the_sum");
  answer.with("lines", lines_words(part, letter)).with("are", one ? "is" : "are").with(of, true);
  if (rank >= 0) answer.with("rank", rank);
  answer.with("strip", letter == 'i' && part.period == 0 && !look.has(kBlockSum));
  return answer.with("periodic", part.period > 0);
}

Answer lines(const SumLook& look) {
  // Which ones they are is then a matter of who comes last.
  if (look.another_run_differs()) return lost_additions(look.evidence);
  std::vector<int> periods = {0, 2, 4, 8, 16, 32, 64, 128, 256};
  for (int period = 3; period < 40; ++period) {
    if ((period & (period - 1)) != 0) periods.push_back(period);
  }
  for (int period : periods) {
    if (2 * period > look.n) continue;
    for (char letter : {'j', 'i'}) {
      std::vector<std::vector<double>> sums;
      for (const Sweep& sweep : look.sweeps) {
        const std::vector<double>& all = letter == 'i' ? sweep.columns : sweep.rows;
        sums.emplace_back(period == 0 ? all.size() : period, 0.0);
        for (std::size_t k = 0; k < all.size(); ++k) sums.back()[k % sums.back().size()] += all[k];
      }
      Part part;
      part.period = period;
      const int begin = period == 0 ? 1 : 0, end = period == 0 ? look.n - 2 : period - 1;
      if (find_part(look, sums, begin, end, &part)) return describe_part(look, part, letter);
    }
  }
  return {};
}

// ---- Precision

Answer single_precision(const SumLook& look) {
  if (!look.is_float || look.sweeps.size() < 2) return {};
  double error = 0;
  for (const Sweep& sweep : look.sweeps) {
    error = std::max(error, std::fabs(sweep.found / sweep.right - 1));
  }
  if (!(error < 1e-2)) return {};
  return Answer("sum_is_a_float").with("error", format("%.1g", error));
}

}  // namespace

// clang-format off
const char* const kWhoseLines =
    "{?loops|where the sum is set to 0 in jacobi_sweep (once, before both loops), and where it is added to}{?lane|what "
    "a lane adds to its own sum: the changes of all four of its points}{?lanes|{?strip|if these columns are whole "
    "strips, who adds a warp's sum: the first lane of every warp, whatever its threadIdx.y is. Else }how the lanes of "
    "a warp (threadIdx.x) contribute their part: {?shuffles|a shuffle's offsets are 16, 8, 4, 2, 1|a sum over threads "
    "that halves its distance goes on down to 1, from half of a power of two}}{?warps|how the warps of a block "
    "contribute their part{?!block_sum|{?shuffles| (a shuffle's offsets are 16, 8, 4, 2, 1)| (a sum over threads that "
    "halves its distance begins with half of the block's)}}, and a thread all of its points: its own sum is 0 before "
    "the first of them}{?stored|{stored_parts}}{?threads|{who_adds}, and each of its points (+=){?block_sum or "
    "shuffles|; those without a point must also reach the reduction}}";
const Family kPartMistakes = {
    {"sum_of_one_rank", Strength::kShape, kAnyProgram, of_sum<lines>,
     "only {lines} {are} in the sum, those of rank {rank}; the field is right everywhere", {"{sum_over_ranks}"}},
    {"lines_are_counted_twice", Strength::kShape, kAnyProgram, of_sum<lines>,
     "{lines} {are} in the sum twice; the field is right everywhere",
     {"which points the threads (or loops) of {sweep} have: are some computed twice, by two threads or by one? Else "
      "the sum of a thread, a warp or a block is added twice{?streams|, or two launches of a pass have the same rows: "
      "the ends of a rank without a neighbour belong to the rest}",
      "{?block_sum|{?periodic|which threads add the block's sum: only the first (threadIdx.x == 0 && threadIdx.y == "
      "0); others hold parts of it}}"}},
    {"lines_are_left_out_of_the_sum", Strength::kShape, kAnyProgram, of_sum<lines>,
     "{lines} {are} left out of the sum; the field is right everywhere",
     {kWhoseLines,
      "{?streams|the fill that sets the sum to 0: it comes before every kernel that adds to it, in the same stream or "
      "by a wait}"}},
    {"only_some_lines_are_in_the_sum", Strength::kShape, kAnyProgram, of_sum<lines>,
     "only {lines} {are} in the sum; the field is right everywhere", {kWhoseLines}},
    {"sum_is_a_float", Strength::kShape, kAnyProgram, of_sum<single_precision>,
     "the sum is a float, and many numbers are added to it one after another: it has 24 bits, and loses what is small "
     "compared with it (off by {error} here; more on a larger grid)",
     {"the type of the sum, all the way from {sweep} to main: double"}},
};
// clang-format on

}  // namespace validate
