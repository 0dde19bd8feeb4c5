#include "judge/cases.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

namespace validate {
namespace {

/// The first step whose passes have several sweeps, or whose rows of a warp have their own rhythm.
constexpr int kFirstPassStep = 12;
/// The first step whose own n is large. Before it a grid beyond that takes most of a check's time.
constexpr int kFirstLargeStep = 3;
/// A whole pass of 16 sweeps, and one more.
constexpr int kPassIterations = 17;
/// Rows of a rank, of which two neighbours need 16 each, as many as a pass has sweeps.
constexpr int kRowsWithARest = 33;
/// Enough for sizes that are tried for their own sake.
constexpr int kFewIterations = 4;
/// For programs whose warps march through strips of columns. The last strip is narrow, so that the
/// one before has the boundary in its halo only: 177, if strips store 96 columns and the first one
/// begins 16 beyond the side; 521, if they store 104. And 400, where the warps on the CPU have
/// shares that are neither whole ones of a strip nor whole rows: what is rounded down is missing.
/// And 480: rows without padding, lanes beyond their end, and tiles of which the last one ends with
/// the grid: a multiple of most widths that they may store (20, 24, 30, 40, 48, 60).
constexpr int kStripN[] = {480, 177, 400, 521};

int most_ranks(const std::vector<Case>& cases) {
  int most = 0;
  for (const Case& run : cases) most = std::max(most, run.ranks);
  return most;
}

}  // namespace

int usual_iterations(lab::ProblemKind problem, int n) {
  if (n > 1000) return 3;
  if (problem == lab::ProblemKind::kHarmonic) return 5;
  if (problem == lab::ProblemKind::kLaplace) return 20;
  // Once an odd number: there it shows which of two fields is taken for the result.
  return n < 200 ? 10 : 11;
}

std::vector<Case> usual_cases() {
  using lab::ProblemKind;
  std::vector<Case> cases;
  // The probe first: it shows nearly every mistake, and shows it at once.
  for (int n : {100, 250}) {
    for (ProblemKind problem :
         {ProblemKind::kProbe, ProblemKind::kLaplace, ProblemKind::kHarmonic}) {
      cases.push_back({problem, n, usual_iterations(problem, n)});
    }
  }
  // A missing barrier often does no harm on a grid so small that every block runs at once; and grid
  // and block exchanged in a launch are as good, as long as the grid is a block's 32 x 32 at most.
  // Of 33, 129 and 130 points a block of 32, 64 or 128 has one or two in a last one of its own: one
  // that only the boundary, or nothing, seems to need. And what loses less than a block of all
  // points loses a row of few.
  for (int n : {33, 129, 130}) cases.push_back({ProblemKind::kProbe, n, kFewIterations});
  cases.push_back({ProblemKind::kProbe, kLargestUsualN, kFewIterations});
  return cases;
}

std::vector<Case> cases_for_gpu(const std::vector<int>& ranks) {
  using lab::ProblemKind;
  const int most = ranks.empty() ? 0 : *std::max_element(ranks.begin(), ranks.end());
  const int few = std::min(2, most);
  // problem, n, iterations, --check-every, tolerance, ranks, ways of exchange. Many ranks take
  // seconds to start on one GPU, so there is one job of that kind. Ranks with a GPU each choose
  // NCCL by themselves.
  std::vector<Case> cases = {{ProblemKind::kProbe, 100, 10, 0, 0, few},
                             {ProblemKind::kLaplace, 250, 20, 0, 0, few},
                             {ProblemKind::kProbe, kLargestUsualN, kPassIterations, 0, 0, most}};
  if (most > 1) {
    cases.push_back({ProblemKind::kProbe, 100, 10, 0, 0, few, "mpi"});
    cases.push_back({ProblemKind::kProbe, 100, 10, 1, 0, few, "nccl"});
  }
  return cases;
}

std::vector<Case> with_ranks(const std::vector<Case>& cases, const std::vector<int>& ranks) {
  if (ranks.empty()) return cases;
  const int most = *std::max_element(ranks.begin(), ranks.end());
  std::vector<Case> jobs;
  std::size_t next = 0;
  for (Case run : cases) {
    const bool probe = run.problem == lab::ProblemKind::kProbe;
    // So small a grid becomes one whose ranks have few rows, all of which are neighbours', too.
    if (run.iterations == kFewIterations && run.n < kFewRowsARank * most && cases.size() > 1) {
      run.ranks = most;
      run.n = kFewRowsARank * most;
      jobs.push_back(run);
      continue;
    }
    for (std::size_t k = 0; k < (probe ? ranks.size() : 1); ++k) {
      run.ranks = ranks[probe ? k : next++ % ranks.size()];
      jobs.push_back(run);
    }
    // Both ways of exchange, where there are both: one of them nobody has asked for yet.
    if (probe && run.n == cases[0].n && most > 1) {
      run.ranks = most;
      run.halos = "mpi";
      jobs.push_back(run);
      // Only NCCL's calls are waited for by nothing. So each rank needs rows that no other does,
      // or it has no second stream that could be early.
      run.ranks = std::min(most, std::max(2, run.n / kRowsWithARest));
      run.halos = "nccl";
      jobs.push_back(run);
      // By NCCL the host need not wait for exchanges: then as many checks as can be are under way.
      run.check_every = 1;
      jobs.push_back(run);
    }
  }
  return jobs;
}

std::vector<Case> cases_of_checks(const std::vector<Case>& cases, bool watched) {
  constexpr int kMaxN = 250;  // such mistakes show on small grids, too
  std::vector<Case> more;
  std::set<std::pair<int, int>> tried;
  for (Case run : cases) {
    if (run.n > kMaxN) {
      // Beside a boundary whose columns a strip's halo holds, and not the strip itself.
      if (run.n != kLargestUsualN || !tried.insert({run.n, 0}).second) continue;
      for (const int n : kStripN) {
        run.n = n;
        // One ends with a whole pass, the others with a sweep more.
        run.iterations = kPassIterations - (n == kStripN[0] ? 1 : 0);
        more.push_back(run);
      }
      continue;
    }
    if (run.iterations == kFewIterations || !tried.insert({run.n, run.ranks}).second) continue;
    const bool as_usual = run.iterations == usual_iterations(run.problem, run.n);
    if (as_usual) run.iterations = kUnevenIterations;
    // With 17 a whole pass comes after a short one.
    for (int check_every : {0, 1, 7, kPassIterations}) {
      // A job of ranks takes a while to start: all of them at one size.
      const bool at_one_size = check_every > 7 || (run.ranks > 0 && as_usual && check_every > 0);
      if (at_one_size && run.n != cases[0].n) continue;
      if (watched && check_every == 7) continue;
      Case job = run;
      job.check_every = check_every;
      if (watched && check_every == 1) job.iterations = std::min(run.iterations, kFewIterations);
      if (check_every > 0 || as_usual) more.push_back(job);
    }
  }
  return more;
}

void lengthen_passes(int step, std::vector<Case>* cases) {
  if (step < kFirstPassStep) return;
  const auto is_probe = [](const Case& run) { return run.problem == lab::ProblemKind::kProbe; };
  for (Case& run : *cases) {
    if (is_probe(run) && run.n < kLargestUsualN && run.iterations < kPassIterations - 1) {
      run.iterations = kPassIterations;
    }
  }
  std::stable_partition(cases->begin() + 1, cases->end(), [&](const Case& run) {
    return is_probe(run) && run.n == cases->front().n;
  });
}

void add_order(const char* order, const std::vector<Case>& forward, std::vector<Case>* cases) {
  constexpr int kMaxShuffledN = 250;
  const bool reverse = std::strcmp(order, "reverse") == 0;
  const int ranks = std::min(3, most_ranks(forward));
  for (Case run : forward) {
    const bool by_nccl = run.halos && std::strcmp(run.halos, "nccl") == 0;
    if (run.problem != lab::ProblemKind::kProbe || (run.halos && !(by_nccl && reverse)) ||
        (!run.halos && run.ranks != ranks)) {
      continue;
    }
    // Small grids have all that depends on chance.
    if (!reverse && run.n > kMaxShuffledN) continue;
    run.order = order;
    cases->push_back(run);
  }
}

void add_sizes(int step, bool multiples, int own_n, int own_ranks, std::vector<Case>* cases) {
  const int sweeps = step >= kFirstPassStep ? kPassIterations : 3;
  const int ranks = most_ranks(*cases);
  auto add = [&](int n, int iterations, int ranks_then) {
    cases->push_back({lab::ProblemKind::kProbe, n, iterations, 0, 0, ranks_then});
  };
  if (multiples) {
    add(kMultipleN, kFewIterations, ranks);
    add(kLargeMultipleN, sweeps, ranks);
    if (step < 0 || step >= kFirstLargeStep) add(kBeyondN, 1, ranks);
  }
  // The largest: few sweeps show whether a warp's rows are right, and those of one pass and a sweep
  // where a pass has several.
  const int own_sweeps = step > kFirstPassStep ? sweeps : 3;
  if (own_n > 0) add(own_n, own_sweeps, own_ranks > 0 ? own_ranks : ranks);
}

}  // namespace validate
