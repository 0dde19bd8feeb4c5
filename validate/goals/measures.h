#pragma once

#include <functional>
#include <string>

#include "goals/instruments.h"

namespace validate {

/// Counts are taken on a grid of this many points per side: rows begin at a multiple of a warp's 32
/// points, as at the steps' own sizes.
inline constexpr int kCountedN = 128;

inline double points(double n) { return n * n; }
inline double interior(double n) { return (n - 2) * (n - 2); }

/// Ends a measurement that means nothing where the CPU runs the kernels.
inline void need_gpu(const Bench* bench, const std::string& why_not = "needs a GPU") {
  if (!bench->have.on_gpu) throw NotMeasurable(why_not);
}

/// Sectors moved for 32 values of 4 bytes each: 4 is the minimum. 0: nothing was accessed.
inline double sectors_per_request(const KernelCount::Accesses& all) {
  return all.bytes > 0 ? all.sectors / (all.bytes / (32 * sizeof(float))) : 0;
}

/// What rows of that name tell, in a trace with twice as many sweeps less one with so many: what is
/// done once a run is left out. `trace_of(1)` and `trace_of(2)` are the two. "": all of the table.
double difference(const std::function<const Trace&(int)>& trace_of, const char* table,
                  const std::string& name, double TraceRow::*member = &TraceRow::count);

inline constexpr const char* kCloseRanges =
    "Each nvtxRangePush needs its nvtxRangePop, on every way out of the function: a pop after a "
    "`return` is never reached.";

// The measurements. All throw NotMeasurable if it cannot be done here.

// Memory: who holds the fields, who reads and writes them, and how (memory.cpp).
Measured fields_managed(Bench*), everything_freed(Bench*), sweep_on_gpu(Bench*),
    copy_on_gpu(Bench*), no_copy(Bench*), fields_stay(Bench*), migration_stopped(Bench*),
    sum_stays(Bench*), coalesced(Bench*), beyond_l2(Bench*), one_atomic_a_block(Bench*),
    tile_in_shared_memory(Bench*), fewer_loads(Bench*);

// Time: ranges, launches, waits, and how fast (time.cpp).
Measured ranges_in_loop(Bench*), ranges_outside(Bench*), ranges_closed(Bench*),
    work_outweighs_start(Bench*), sweep_faster(Bench*), iteration_shorter(Bench*),
    more_sweeps_a_second(Bench*), near_copy(Bench*), past_copy(Bench*), few_waits(Bench*),
    waits_late(Bench*), sweeps_together(Bench*), several_sweeps_a_launch(Bench*);

// Cycles over several grids (cycles.cpp).
Measured little_error_left(Bench*), begins_near(Bench*), solves_in_few_copies(Bench*);

// Jobs of ranks (ranks.cpp).
Measured exchange_before_passes(Bench*), nothing_through_host(Bench*), sums_at_checks(Bench*),
    exchange_beside_kernel(Bench*), parts_beside_each_other(Bench*),
    exchange_starts_beside_kernel(Bench*), host_waits_late(Bench*), scales(Bench*);

/// A launch with far more threads than the grid has points, in words; "": there is none.
std::string large_launch(Bench* bench);
/// A kernel whose accesses are far from coalesced, in words; "": there is none.
std::string scattered_accesses(Bench* bench);

struct GoalCount {
  int missed = 0, not_measurable = 0;

  /// Measures a goal, prints how it stands, and counts it. `measure` may throw NotMeasurable.
  void tell(const char* goal, const char* advice, const std::function<Measured()>& measure);
};

/// Measures the goals of step `number`, in the order of the table in goals.cpp, and prints them.
GoalCount measure_goals(int number, Bench* bench);

}  // namespace validate
