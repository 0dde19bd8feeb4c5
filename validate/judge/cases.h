#pragma once

#include <vector>

#include <lab/options.h>

#include "run/program_run.h"

namespace validate {

/// The first step that computes a residual only every few sweeps.
inline constexpr int kFirstSparseStep = 11;
/// The largest grid of no special size that every step is tried on.
inline constexpr int kLargestUsualN = 1043;
/// Multiples of every block's shape in use: a last block that is not full has nothing to do there.
inline constexpr int kMultipleN = 256, kLargeMultipleN = 1024;
/// Beyond 2048, where 4096 blocks of 32 x 32 no longer suffice; a multiple of 1024, too.
inline constexpr int kBeyondN = 3072;
/// Between a halo and two of steps 14 and 15, whose passes have 16 sweeps.
inline constexpr int kFewRowsARank = 21;
/// No --check-every that is tried divides it.
inline constexpr int kUnevenIterations = 37;

/// How many iterations of `problem` at `n` tell right from wrong.
int usual_iterations(lab::ProblemKind problem, int n);

/// The runs that a step is judged by: the three problems at n = 100 and n = 250, which are
/// multiples of no block's shape; the probe at n = 33, 129 and 130, a little more than blocks hold,
/// and at n = 1043, where a race shows more often.
std::vector<Case> usual_cases();

/// The few cases that a GPU runs if CUDA on the CPU runs all of them beside it. On a GPU a run
/// takes up to a second to begin, and the driver lets them begin one after the other. What depends
/// on sizes or on the number of ranks is the same on the CPU. `ranks`: as for with_ranks.
std::vector<Case> cases_for_gpu(const std::vector<int>& ranks);

/// The cases as jobs of ranks. The probe shows most: it is run with each number of them, and the
/// other problems with one after the other. No numbers: the cases as they are.
std::vector<Case> with_ranks(const std::vector<Case>& cases, const std::vector<int>& ranks);

/// What a step that takes --check-every is judged by beside `cases`: the default, 1, 7 and 17, with
/// so many iterations that the last ones fill no pass. After an odd 7 two fields that change roles
/// have each other's. `watched`: every access is looked at, which takes its time. So few
/// sweeps have a residual each, and 7 is left out.
std::vector<Case> cases_of_checks(const std::vector<Case>& cases, bool watched);

/// From step 12 on the probe gets at least as many iterations as a pass has sweeps, and one more:
/// most mistakes of a pass show in no single sweep. They show best at the first case's n, so those
/// cases come next. Not the largest: n = 1024 has a whole pass.
void lengthen_passes(int step, std::vector<Case>* cases);

/// Adds the probe of `forward` in another order of threads, reverse or shuffled: it shows what
/// depends on them, whatever the number of ranks is. By NCCL the host waits for no exchange: there
/// streams that do not wait for one another go on too early.
void add_order(const char* order, const std::vector<Case>& forward, std::vector<Case>* cases);

/// Adds sizes, each with few sweeps: with `multiples` those that are multiples of every block's
/// shape in use, and from step 03 on one that has more blocks than most fixed sizes allow for; and
/// the step's own (0: it is not tried). A job has as many ranks as any has, and at its own n
/// `own_ranks`, unless that is 0.
void add_sizes(int step, bool multiples, int own_n, int own_ranks, std::vector<Case>* cases);

}  // namespace validate
