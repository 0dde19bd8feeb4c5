#pragma once

#include <memory>
#include <vector>

#include <lab/problem.h>

#include "ladder/ladder.h"
#include "reference/reference.h"

namespace validate {

/// As many threads, of at most `most`, as are worth having at this n.
int useful_threads(int n, int most);

struct ThreadedSweeps {
  std::unique_ptr<float[]> field;  ///< n x n, row j outer
  double residual = 0;             ///< of the last sweep
  std::vector<double> ms;          ///< per sweep, of each sample
};

/// The best code that the lab has for all cores: the rows are dealt out to `threads` threads, each
/// of which is the first to write its rows, so that they lie in its part of the memory. Two fields
/// change roles, and each thread sums the changes of its own rows. One sweep warms up, then each of
/// `samples` times is of `sweeps` sweeps.
ThreadedSweeps sweep_on_threads(const lab::Problem& problem, int threads, int samples, int sweeps);

/// Summarises the times. What has not the reference's field, bit for bit, and its residual but for
/// the order of the sum, gets none.
Timing time_if_right(const ThreadedSweeps& made, const Reference& reference, double residual);

}  // namespace validate
