#include <algorithm>
#include <limits>
#include <map>

#include "goals/measures.h"
#include "run/text.h"

namespace validate {
namespace {

constexpr int kRangesN = 64, kRangesIterations = 7;

/// In how many sweeps something is counted, by the program that runs on the CPU.
constexpr int kCountedSweeps = 240;
/// The same for passes of 16 sweeps, and a residual every 64.
constexpr int kSweepsOfPasses = 128;

const char* const kOtherRanges =
    "nvtxRangePop closes what nvtxRangePush has opened: a range of nvtxRangeStart ends with "
    "nvtxRangeEnd, and nvtxMark opens none.";

/// Ranges that are opened more often than closed: "copy_field is opened 7 times and closed 6".
std::string open_ranges(const Trace& trace) {
  std::map<std::string, double> open, closed;
  for (const TraceRow& range : trace.table("open")) open[range.name] += range.count;
  for (const TraceRow& range : trace.table("nvtx")) closed[range.name] += range.count;
  std::vector<std::string> words;
  for (const auto& [name, count] : open) {
    const double pushed = count + closed[name];
    words.push_back(
        format("%s is opened %.0f time%s and ", name.c_str(), pushed, pushed == 1 ? "" : "s") +
        (closed[name] == 0 ? "never closed" : format("closed %.0f", closed[name])));
  }
  return join(words);
}

const char* close_ranges(const Trace& trace) {
  return trace.total("pops", "") > 0 ? kOtherRanges : kCloseRanges;
}

/// Nanoseconds an iteration of the kernels that make it, the copying one left out. By medians: the
/// first launch may wait for its pages.
double sweep_ns(Bench* bench, const std::string& program, int n, int iterations) {
  const Trace& trace = bench->trace(program, n, iterations);
  double ns = 0;
  for (const TraceRow& kernel : trace.table("kernels")) {
    if (!says(kernel.name, "copy")) {
      ns += kernel.median_ns * kernel.count / iterations;
    }
  }
  if (ns == 0) throw NotMeasurable("no kernel was traced");
  return ns;
}

/// Milliseconds an iteration of this program and of the one of the step before, at this one's n.
struct Times {
  int n;
  double now, before;
};

/// The fastest of `runs` runs of each program, in turn. Between runs the time of a launch, which is
/// the CPU's, differs by a sixth (18.4 to 21.4 us per sweep of step 10 at n = 512, on one H200): on
/// a small grid one run is too few.
Times both_times(Bench* bench, int iterations, int runs) {
  need_gpu(bench);
  constexpr double kNone = std::numeric_limits<double>::infinity();
  Times least = {bench->default_n(bench->have.program), kNone, kNone};
  for (int k = 0; k < runs; ++k) {
    least.now = std::min(least.now, bench->milliseconds(bench->have.program, least.n, iterations));
    least.before =
        std::min(least.before, bench->milliseconds(bench->have.before, least.n, iterations));
  }
  return least;
}

/// Bandwidth at 8 bytes an update over that of a copy, both measured now.
Measured share_of_copy(Bench* bench, int iterations, double least) {
  need_gpu(bench);
  const int n = bench->default_n(bench->have.program);
  const double ms = bench->milliseconds(bench->have.program, n, iterations);
  const double gb_per_s = 8e-6 * points(n) / ms;
  const double share = gb_per_s / bench->gpu().copy_gb_per_s;
  return {share >= least,
          format("%.3g times: %.4g ms per sweep at n = %d, %.0f GB/s", share, ms, n, gb_per_s)};
}

/// How much of an iteration each of its ranges covers, on a grid where it takes far longer than a
/// range.
std::map<std::string, double> covered(Bench* bench) {
  constexpr int kN = 256, kIterations = 5;
  const double ms = bench->milliseconds(bench->have.program, kN, kIterations);
  std::map<std::string, double> shares;
  for (const TraceRow& range : bench->trace(bench->have.program, kN, kIterations).table("nvtx")) {
    if (range.count == kIterations) shares[range.name] = 1e-6 * range.total_ns / kIterations / ms;
  }
  return shares;
}

/// How often something was noted in that many sweeps.
double on_the_cpu(Bench* bench, const char* table, const std::string& name,
                  int sweeps = kCountedSweeps) {
  const std::string& program = bench->have.on_cpu;
  if (program.empty()) throw NotMeasurable("needs the program that runs on the CPU");
  return difference(
      [&](int times) -> const Trace& { return bench->trace(program, 32, times * sweeps); }, table,
      name);
}

}  // namespace

Measured ranges_in_loop(Bench* bench) {
  const Trace& trace = bench->trace(bench->have.program, kRangesN, kRangesIterations);
  std::vector<std::string> names;
  std::string too_often;
  bool in_a_loop = false;
  for (const TraceRow& range : trace.table("nvtx")) {
    if (range.count == kRangesIterations) names.push_back(range.name);
    if (range.count > kRangesIterations) {
      in_a_loop |= range.count >= (kRangesN - 2) * kRangesIterations;
      too_often += format("; %s is entered %.0f times", range.name.c_str(), range.count);
    }
  }
  const std::string found =
      names.empty() ? "none" : join(names) + format(", %d times each", kRangesIterations);
  const std::string open = open_ranges(trace);
  // A range around nothing covers some hundredths of a percent; and a busy machine measures badly.
  std::string empty;
  std::size_t with_work = names.size();
  if (names.size() >= 2) {
    for (const auto& [name, share] : covered(bench)) {
      if (share >= 0.02) continue;
      --with_work;
      empty += format("; %s covers %.2g %% of an iteration", name.c_str(), 100 * share);
    }
  }
  const bool done = with_work >= 2;
  return {done,
          format("in %d iterations: ", kRangesIterations) + found + too_often +
              (done ? "" : empty) + (open.empty() ? "" : "; " + open),
          !open.empty()    ? close_ranges(trace)
          : !empty.empty() ? "Is the work between the push and the pop? (An object that pops the "
                             "range at its end needs a name, or it ends at once.)"
          : too_often.empty() ? ""
          : in_a_loop         ? "Is one pushed inside a loop over rows or columns? It "
                                "belongs before the outer loop, and its pop after it."
                              : "Do two functions push the same name?"};
}

Measured ranges_outside(Bench* bench) {
  const Trace& trace = bench->trace(bench->have.program, kRangesN, kRangesIterations);
  std::vector<std::string> names;
  for (const TraceRow& range : trace.table("nvtx")) {
    if (range.count < kRangesIterations) names.push_back(range.name);
  }
  const std::string open = names.size() >= 3 ? "" : open_ranges(trace);
  return {names.size() >= 3,
          (names.empty() ? "none" : join(names)) + (open.empty() ? "" : "; " + open),
          open.empty() ? "" : close_ranges(trace)};
}

Measured ranges_closed(Bench* bench) {
  const Trace& trace = bench->trace(bench->have.program, kRangesN, kRangesIterations);
  const std::string open = open_ranges(trace);
  const double pops = trace.total("pops", "");
  if (pops > 0) {
    return {false, format("nvtxRangePop is called %.0f times with no range open", pops),
            pops < (kRangesN - 2) * kRangesIterations
                ? kOtherRanges
                : "A pop closes the range that was pushed last: is one inside a loop whose "
                  "push comes before it? Then the range ends in the first turn."};
  }
  return {open.empty(), open.empty() ? "all" : open};
}

Measured work_outweighs_start(Bench* bench) {
  constexpr int kIterations = 10, kRunIterations = 288;
  constexpr int kBefore = 64;  // points per side in steps 00 to 02
  const int n = bench->default_n(bench->have.program);
  if (n <= kBefore) {
    return {false, format("n is %d, and the steps before have %d", n, kBefore)};
  }
  need_gpu(bench, format("needs a GPU, whose start-up has to be outweighed; n is %d here", n));
  const Trace& trace = bench->trace(bench->have.program, 0, kIterations);
  double in_loop = 0;
  for (const TraceRow& range : trace.table("nvtx")) {
    if (range.count == kIterations) in_loop += 1e-9 * range.total_ns;
  }
  if (in_loop == 0) throw NotMeasurable("needs the NVTX ranges of step 01");
  const double rest = trace.seconds - in_loop;
  const double run = in_loop / kIterations * kRunIterations;
  const double share = run / (run + rest);
  return {share >= 0.95, format("%.1f %% of %d iterations at n = %d (%.2f s of %.2f s)",
                                100 * share, kRunIterations, n, run, run + rest)};
}

Measured sweep_faster(Bench* bench) {
  need_gpu(bench);
  const int n = bench->default_n(bench->have.program);
  const double before = sweep_ns(bench, bench->have.before, n, 5);
  const double now = sweep_ns(bench, bench->have.program, n, 20);
  return {before / now >= 20,
          format("%.3g times: %.3g ms, and %.3g ms in the previous step, at n = %d", before / now,
                 1e-6 * now, 1e-6 * before, n)};
}

Measured iteration_shorter(Bench* bench) {
  const Times times = both_times(bench, 50, 1);
  return {times.now <= 0.6 * times.before,
          format("%.3g ms, and %.3g ms in the previous step, at n = %d: %.2g of it", times.now,
                 times.before, times.n, times.now / times.before)};
}

Measured more_sweeps_a_second(Bench* bench) {
  const Times times = both_times(bench, 2000, 2);
  return {times.before >= 4.5 * times.now,
          format("%.3g times: %.3g us per sweep, and %.3g us in the previous step, at n = %d",
                 times.before / times.now, 1e3 * times.now, 1e3 * times.before, times.n)};
}

Measured near_copy(Bench* bench) { return share_of_copy(bench, 200, 0.8); }

Measured past_copy(Bench* bench) { return share_of_copy(bench, 480, 4); }

Measured few_waits(Bench* bench) {
  const double waits = on_the_cpu(bench, "waits", "");
  return {5 * waits <= kCountedSweeps,
          format("the host waits %.3g times in %d sweeps", waits, kCountedSweeps)};
}

Measured waits_late(Bench* bench) {
  const double waits = on_the_cpu(bench, "waits", "");
  const double idle = on_the_cpu(bench, "waits", "no kernels left");
  return {idle == 0, format("after %.3g of %.3g waits it has nothing left", idle, waits)};
}

Measured sweeps_together(Bench* bench) {
  const double kernels = on_the_cpu(bench, "handed over", "kernel");
  const double graphs = on_the_cpu(bench, "handed over", "graph");
  return {3 * (kernels + graphs) <= kCountedSweeps,
          format("%.3g kernels and %.3g graphs are launched in %d sweeps", kernels, graphs,
                 kCountedSweeps)};
}

Measured several_sweeps_a_launch(Bench* bench) {
  const double launches = on_the_cpu(bench, "kernels", "", kSweepsOfPasses);
  return {4 * launches <= kSweepsOfPasses,
          format("%.3g kernels perform %d sweeps", launches, kSweepsOfPasses)};
}

double difference(const std::function<const Trace&(int)>& trace_of, const char* table,
                  const std::string& name, double TraceRow::*member) {
  return trace_of(2).total(table, name, member) - trace_of(1).total(table, name, member);
}

}  // namespace validate
