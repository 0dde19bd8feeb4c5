#pragma once

#include <functional>
#include <string>

#include "goals/instruments.h"

namespace validate {

/// What a measurement says of a goal.
struct Measured {
  bool reached;
  std::string found;
  std::string advice = "";  ///< if it is missed; empty: the table's
};

inline Measured measured(bool reached, const std::string& found, const std::string& advice = "") {
  return {reached, found, advice};
}

/// Counts are taken on a grid of this many points a side: rows begin at a multiple of a warp's 32
/// points, as at the steps' own sizes.
inline constexpr int kCountedN = 256;

inline double points(double n) { return n * n; }
inline double interior(double n) { return (n - 2) * (n - 2); }

/// Ends a measurement that means nothing where the CPU runs the kernels.
inline void need_gpu(const Bench* bench) {
  if (!bench->have.on_gpu) throw NotMeasurable("needs a GPU");
}

/// What rows of that name tell, in a trace with twice as many sweeps less one with so many: what is
/// done once a run is left out. `trace_of(1)` and `trace_of(2)` are the two. "": all of the table.
double difference(const std::function<const Trace&(int)>& trace_of, const char* table,
                  const std::string& name, double TraceRow::*member);

/// What to do about ranges that stay open.
inline constexpr const char* kCloseRanges =
    "Each nvtxRangePush needs its nvtxRangePop, on every way out of the function: a pop behind a "
    "`return` is never reached.";

// The measurements. All throw NotMeasurable if it cannot be done here.

// Memory: who holds the fields, who reads and writes them, and how (memory.cpp).
Measured fields_managed(Bench* bench);
Measured everything_freed(Bench* bench);
Measured sweep_on_gpu(Bench* bench);
Measured copy_on_gpu(Bench* bench);
Measured no_copy(Bench* bench);
Measured fields_stay(Bench* bench);
Measured migration_stopped(Bench* bench);
Measured sum_stays(Bench* bench);
Measured coalesced(Bench* bench);
Measured beyond_l2(Bench* bench);
Measured copy_from_dram(Bench* bench);
Measured near_eight_bytes(Bench* bench);
Measured one_atomic_a_block(Bench* bench);
Measured tile_in_shared_memory(Bench* bench);
Measured fewer_loads(Bench* bench);

// Time: ranges, launches, waits, and how fast (time.cpp).
Measured ranges_in_loop(Bench* bench);
Measured ranges_outside(Bench* bench);
Measured ranges_closed(Bench* bench);
Measured work_outweighs_start(Bench* bench);
Measured sweep_faster(Bench* bench);
Measured told_not_judged(Bench* bench);
Measured iteration_shorter(Bench* bench);
Measured more_sweeps_a_second(Bench* bench);
Measured near_copy(Bench* bench);
Measured past_copy(Bench* bench);
Measured few_waits(Bench* bench);
Measured waits_late(Bench* bench);
Measured sweeps_together(Bench* bench);
Measured several_sweeps_a_launch(Bench* bench);

// Jobs of ranks (ranks.cpp).
Measured exchange_before_passes(Bench* bench);
Measured nothing_through_host(Bench* bench);
Measured sums_at_checks(Bench* bench);
Measured exchange_beside_kernel(Bench* bench);
Measured host_waits_late(Bench* bench);
Measured scales(Bench* bench);
Measured faster_than_blocking(Bench* bench);
}  // namespace validate
