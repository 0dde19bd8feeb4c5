#pragma once

#include "explain/evidence.h"

namespace validate {

/// A field that is wrong after a pass of several sweeps, each of which is right by itself.
struct PassLook {
  explicit PassLook(const Evidence& all)
      : evidence(all),
        words(all.words),
        interview(all.interview),
        seen(*all.interview.after(all.wrong.first_iteration)),
        n(all.wrong.run.n),
        sweeps(all.wrong.first_iteration),
        right(lab::Problem(all.wrong.run.problem, n, 1)),
        cells(differing(right.after(sweeps), seen.field, n, sweeps)) {}

  const Evidence& evidence;
  const Words& words;
  Interview& interview;
  const Observation& seen;
  int n, sweeps;  ///< of the pass
  mutable Sweeps right;
  Cells cells;  ///< the wrong points
};

}  // namespace validate
