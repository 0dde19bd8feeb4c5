// Blocks and threads whose part of the sum is missing, and the precision of it.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "explain/looks/sum_look.h"
#include "explain/mistakes/families.h"
#include "run/text.h"

namespace validate {
namespace {

/// One thread of each block adds what it has itself, and no more.
Answer first_thread(const SumLook& look) {
  for (int x : {8, 16, 32, 64, 128, 256}) {
    for (int y : {1, 2, 4, 8, 16, 32}) {
      if (look.sum_explained([&](const Sweep& s) {
            double sum = 0;
            for (int j = 0; j < look.n; j += y) {
              for (int i = 0; i < look.n; i += x) sum += s.square(look.n, i, j);
            }
            return sum;
          })) {
        return Answer("only_the_first_thread_of_a_block").with("x", x).with("y", y);
      }
    }
  }
  return {};
}

/// The sums of blocks of x by y points, row after row of them.
std::vector<double> by_block(const Sweep& sweep, int n, int x, int y) {
  const int across = (n + x - 1) / x;
  std::vector<double> sums(static_cast<std::size_t>(across) * ((n + y - 1) / y), 0.0);
  for (int j = 1; j < n - 1; ++j) {
    for (int i = 1; i < n - 1; ++i) {
      sums[static_cast<std::size_t>(j / y) * across + i / x] += sweep.square(n, i, j);
    }
  }
  return sums;
}

/// Whether each sweep's sum is that of one block, whatever the order of the threads.
Answer one_block(const SumLook& look) {
  for (int x : {32, 16, 8, 64, 128, 256}) {
    for (int y : {32, 16, 8, 4, 1}) {
      const std::size_t across = (look.n + x - 1) / x;
      std::size_t fits = 0, block = 0;  // which one: of the last sweep
      for (const Sweep& sweep : look.sweeps) {
        const double found = sweep.found_sum(look.n);
        const std::vector<double> sums = by_block(sweep, look.n, x, y);
        const auto is = [&](double sum) {
          return sum > 0 && std::fabs(sum - found) <= 2 * look.tolerance() * sum;
        };
        const auto at = std::find_if(sums.begin(), sums.end(), is);
        if (at != sums.end()) {
          ++fits;
          block = at - sums.begin();
        }
      }
      if (fits < look.sweeps.size() || fits < 2 || look.another_run_differs()) continue;
      return Answer("only_one_block_adds")
          .with("x", x)
          .with("y", y)
          .with("block", format("(%zu, %zu)", block % across, block / across));
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
const Family kBlockMistakes = {
    {"only_the_first_thread_of_a_block", Strength::kShape, kAnyProgram, of_sum<first_thread>,
     "only the points with i % {x} == 0 and j % {y} == 0 are in the sum, those of the first thread of each block",
     {"what the first thread adds: the sum of the block, not its own"}},
    {"only_one_block_adds", Strength::kShape, kAnyProgram, of_sum<one_block>,
     "only one block of {x} x {y} points, block {block}, is in the sum, in another order of the threads as well: no "
     "other block adds to it",
     {"{?stored_parts|{stored_parts}}", "{who_adds}"}},
    {"sum_is_a_float", Strength::kShape, kAnyProgram, of_sum<single_precision>,
     "the sum is a float, and many numbers are added to it one after another: it has 24 bits, and loses what is small "
     "compared with it (off by {error} here; more on a larger grid)",
     {"the type of the sum, all the way from {sweep} to main: double"}},
};
// clang-format on

}  // namespace validate
