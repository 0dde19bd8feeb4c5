// What each step is for, as something that can be measured. The table at the end of this file has
// all of it; the functions before it measure.
//
// A learner may reach a goal in their own way: no kernel's name is asked for where its work tells
// what it is, and no block's shape.

#include "goals/goals.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>

#include "run/text.h"
#include "source/source_code.h"

namespace validate {
namespace {

/// What a measurement says of a goal.
struct Measured {
  bool reached;
  std::string found;
  std::string advice;  // where it is missed; empty: the table's
};

Measured measured(bool reached, const std::string& found, const std::string& advice = "") {
  return {reached, found, advice};
}

// Counts are taken on a grid of this many points a side: rows begin at a multiple of a warp's 32
// points, as at the steps' own sizes.
constexpr int kCountedN = 256;

double points(double n) { return n * n; }
double interior(double n) { return (n - 2) * (n - 2); }

double total(const std::vector<TraceRow>& rows, double TraceRow::*member) {
  double sum = 0;
  for (const TraceRow& row : rows) sum += row.*member;
  return sum;
}

// ---- 01 -----------------------------------------------------------------------------------------

constexpr int kRangesN = 64, kRangesIterations = 7;

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

constexpr const char* kCloseRanges =
    "Each nvtxRangePush needs its nvtxRangePop, on every way out of the function: a pop behind a "
    "`return` is never reached.";

Measured ranges_in_loop(Bench* bench) {
  const Trace& trace = bench->trace(bench->have.program, kRangesN, kRangesIterations);
  std::vector<std::string> names;
  std::string too_often;
  bool in_a_loop = false;
  for (const TraceRow& range : trace.table("nvtx")) {
    if (range.count == trace.iterations) names.push_back(range.name);
    if (range.count > trace.iterations) {
      in_a_loop |= range.count >= (kRangesN - 2) * trace.iterations;
      too_often += format("; %s is entered %.0f times", range.name.c_str(), range.count);
    }
  }
  const std::string found =
      names.empty() ? "none" : join(names) + format(", %d times each", trace.iterations);
  const std::string open = open_ranges(trace);
  return measured(names.size() >= 2,
                  format("in %d iterations: ", trace.iterations) + found + too_often +
                      (open.empty() ? "" : "; " + open),
                  !open.empty()       ? kCloseRanges
                  : too_often.empty() ? ""
                  : in_a_loop         ? "Is one pushed inside of a loop over rows or columns? It "
                                        "belongs before the outer one, its pop behind it."
                                      : "Do two functions push the same name?");
}

Measured ranges_outside(Bench* bench) {
  const Trace& trace = bench->trace(bench->have.program, kRangesN, kRangesIterations);
  std::vector<std::string> names;
  for (const TraceRow& range : trace.table("nvtx")) {
    if (range.count < trace.iterations) names.push_back(range.name);
  }
  const std::string open = names.size() >= 3 ? "" : open_ranges(trace);
  return measured(names.size() >= 3,
                  (names.empty() ? "none" : join(names)) + (open.empty() ? "" : "; " + open),
                  open.empty() ? "" : kCloseRanges);
}

Measured ranges_closed(Bench* bench) {
  const std::string open =
      open_ranges(bench->trace(bench->have.program, kRangesN, kRangesIterations));
  return measured(open.empty(), open.empty() ? "all" : open);
}

// ---- 02 -----------------------------------------------------------------------------------------

Measured fields_managed(Bench* bench) {
  constexpr int kN = 128;
  double bytes = 0;
  for (const TraceRow& row : bench->trace(bench->have.program, kN, 2).table("allocations")) {
    if (row.name == "managed") bytes += row.bytes;
  }
  const double field = points(kN) * sizeof(float);
  return measured(bytes >= 2 * field, format("%.3g of 2 fields, at n = %d", bytes / field, kN));
}

Measured everything_freed(Bench* bench) {
  const Trace& trace = bench->trace(bench->have.program, 128, 2);
  double allocated = 0, freed = 0;
  for (const char* kind : {"managed", "device"}) {
    for (const TraceRow& row : trace.table("allocations")) {
      if (row.name == kind) allocated += row.count;
    }
    for (const TraceRow& row : trace.table("frees")) {
      if (row.name == kind) freed += row.count;
    }
  }
  return measured(freed >= allocated, format("%.0f of %.0f allocations", freed, allocated));
}

// ---- 03 -----------------------------------------------------------------------------------------

Measured work_outweighs_start(Bench* bench) {
  constexpr int kIterations = 10, kRunIterations = 288;
  if (!bench->have.on_gpu) throw NotMeasurable("needs a GPU, whose start-up is to be outweighed");
  const Trace& trace = bench->trace(bench->have.program, 0, kIterations);
  double in_loop = 0;
  for (const TraceRow& range : trace.table("nvtx")) {
    if (range.count == kIterations) in_loop += 1e-9 * range.total_ns;
  }
  if (in_loop == 0) throw NotMeasurable("needs the NVTX ranges of step 01");
  const double rest = trace.seconds - in_loop;
  const double run = in_loop / kIterations * kRunIterations;
  const double share = run / (run + rest);
  return measured(share >= 0.95, format("%.1f %% of %d iterations at n = %d (%.2f s of %.2f s)",
                                        100 * share, kRunIterations, trace.n, run, run + rest));
}

// ---- 04, 05, 10: who does the work --------------------------------------------------------------

/// What kernels do in one iteration: a run of 3 less a run of 1, so that what is done before the
/// first does not count.
struct Iteration {
  double stores = 0, atomics = 0;  // of threads, in global memory
  double launches = 0;
  double copied = 0;   // values of 4 bytes, by cudaMemcpy
  double by_host = 0;  // those of them that go to or from the host's own memory
  double swapped = 0;  // launches with other pointers than the last time
};

Iteration one_iteration(Bench* bench) {
  Iteration iteration;
  for (const int k : {1, 3}) {
    const double sign = k == 1 ? -0.5 : 0.5;
    for (const auto& [line, kernel] : bench->counts(kCountedN, k)) {
      iteration.stores += sign * kernel.stores.bytes / sizeof(float);
      iteration.atomics += sign * kernel.atomics;
      iteration.launches += sign * kernel.launches;
    }
    const Trace& trace = bench->trace(bench->have.watched, kCountedN, k);
    for (const TraceRow& copy : trace.table("copies")) {
      const bool host = copy.name.find("pageable") != std::string::npos;
      if (copy.name == "memset") continue;
      (host ? iteration.by_host : iteration.copied) += sign * copy.bytes / sizeof(float);
    }
    iteration.swapped += sign * total(trace.table("arguments"), &TraceRow::count);
  }
  return iteration;
}

Measured sweep_on_gpu(Bench* bench) {
  const Iteration iteration = one_iteration(bench);
  const double share = iteration.stores / interior(kCountedN);
  return measured(
      share >= 0.99,
      format("kernels write %.3g %% of the interior in each iteration", 100 * std::min(1.0, share)),
      share >= 0.01 ? "The rest is written by host code, in a loop or a copy: one "
                      "launch a sweep writes the whole interior."
                    : "");
}

/// A sweep writes the interior, a copy the boundary too: both are one field.
std::string fields_written(double fields) {
  const double whole = std::round(fields);
  if (std::abs(fields - whole) <= 0.02) fields = whole;
  return format("the GPU writes %.3g field%s per iteration", fields, fields == 1 ? "" : "s");
}

/// A learner who swaps the pointers, as step 10 does, has no copy to make.
Measured copy_on_gpu(Bench* bench) {
  const Iteration iteration = one_iteration(bench);
  const double fields = (iteration.stores + iteration.copied) / interior(kCountedN);
  if (fields >= 0.99 && fields < 1.1 && iteration.swapped >= 0.99) {
    return measured(true, "there is none: the pointers are swapped");
  }
  // A copy writes the boundary, too.
  const bool copies = iteration.stores / points(kCountedN) > 0.999;
  std::string advice;
  if (fields >= 0.99 && copies) {
    advice =
        "A kernel writes the whole field, its boundary too: that is the copy. So the sweep is "
        "not made by a kernel: launch one, as in step 04.";
  } else if (fields < 0.01) {
    advice = "Neither the sweep nor the copy is made by a kernel.";
  }
  return measured(fields >= 1.98, fields_written(fields), advice);
}

Measured no_copy(Bench* bench) {
  const Iteration iteration = one_iteration(bench);
  const double fields = (iteration.stores + iteration.copied) / interior(kCountedN);
  const double by_host = iteration.by_host / interior(kCountedN);
  if (by_host >= 0.01) {
    return measured(false,
                    format("%.2g of a field goes between the GPU and the host's memory in each "
                           "iteration",
                           by_host),
                    "Nothing in the loop needs the field on the host: copy it behind the loop.");
  }
  return measured(fields >= 0.99 && fields < 1.1, fields_written(fields));
}

/// "sum, once (allocated at exercises/08_cub_reduction/jacobi.cu:43)".
std::string touched_words(const std::string& allocated_at, double count) {
  const std::size_t colon = allocated_at.rfind(':');
  std::string source, name;
  if (colon != std::string::npos && read_text(allocated_at.substr(0, colon), &source)) {
    name = allocated_in(source, std::atoi(allocated_at.c_str() + colon + 1));
  }
  const std::string times = count < 1.5 ? "once" : format("%.3g times", count);
  return name.empty() ? "what is allocated at " + allocated_at + ", " + times
                      : name + ", " + times + " (allocated at " + allocated_at + ")";
}

/// An access now and then, as to a sum, is none of a field.
Measured fields_stay(Bench* bench) {
  std::vector<std::string> touched;
  for (const auto& [line, count] : bench->host_accesses(kCountedN)) {
    if (count >= 0.01 * interior(kCountedN)) touched.push_back(touched_words(line, count));
  }
  return measured(touched.empty(), touched.empty()
                                       ? "host code touches no field in an iteration"
                                       : "in each iteration host code touches " + join(touched));
}

Measured migration_stopped(Bench* bench) {
  constexpr int kIterations = 20;
  if (!bench->have.on_gpu) throw NotMeasurable("needs a GPU: no page moves here");
  auto migrated = [&](int iterations) {
    double bytes = 0;
    for (const TraceRow& row :
         bench->trace(bench->have.program, 0, iterations).table("migration")) {
      bytes += row.bytes;
    }
    return bytes;
  };
  const double bytes = (migrated(2 * kIterations) - migrated(kIterations)) / kIterations;
  const double field = points(bench->default_n(bench->have.program)) * sizeof(float);
  return measured(bytes < 0.01 * field,
                  format("%.2g MB an iteration, %.2g %% of a field", 1e-6 * std::max(0.0, bytes),
                         100 * std::max(0.0, bytes) / field));
}

// ---- 06 -----------------------------------------------------------------------------------------

/// Sectors are told as of 32 floats: 4 are the fewest.
double sectors_per_request(const KernelCount::Accesses& all) {
  return all.bytes > 0 ? all.sectors / (all.bytes / (32 * sizeof(float))) : 0;
}

Measured coalesced(Bench* bench) {
  constexpr double kMost = 6;
  std::vector<std::string> each, far;
  double loads = 0;
  for (const auto& [line, kernel] : bench->counts(kCountedN, 1)) {
    // A few values a block are no traffic.
    if (kernel.stores.threads + kernel.loads.threads < 0.1 * points(kCountedN)) continue;
    const double load = sectors_per_request(kernel.loads);
    const double store = sectors_per_request(kernel.stores);
    loads = std::max(loads, load);
    each.push_back(kernel.name + format(": %.3g a load, %.3g a store", load, store));
    if (std::max(load, store) > kMost) far.push_back(kernel.name);
  }
  if (loads == 0) throw NotMeasurable("no kernel reads a field");
  std::string found;
  for (const std::string& kernel : each) found += (found.empty() ? "" : "; ") + kernel;
  std::string advice;
  if (!far.empty() && far.size() < each.size()) {
    advice =
        "One idx has to serve all kernels: neighbours in i are neighbours in memory "
        "(std::size_t(j) * n + i), and in each kernel i comes from threadIdx.x. make count "
        "STEP=06 shows, line by line, which of the two is not so in " +
        join(far) + ".";
  }
  return measured(far.empty(), found + " (of 32 floats; 4 are the fewest)", advice);
}

// ---- 07 -----------------------------------------------------------------------------------------

/// Where there is no GPU: how the fields compare with the L2 caches that are common.
std::string against_common_l2(int n, double fields) {
  constexpr struct {
    const char* gpu;
    double bytes;
  } kCaches[] = {{"an H200", 60e6}, {"an H100", 50e6}, {"an A100", 40e6}};
  std::vector<std::string> times;
  for (const auto& cache : kCaches) {
    times.push_back(format("%.2g times %s of %s", fields / cache.bytes,
                           times.empty() ? "the L2 cache" : "that", cache.gpu));
  }
  return format("needs a GPU; at n = %d both fields have %.3g MB: ", n, 1e-6 * fields) +
         join(times);
}

Measured beyond_l2(Bench* bench) {
  const int n = bench->default_n(bench->have.program);
  const double fields = 2 * points(n) * sizeof(float);
  if (!bench->have.on_gpu) throw NotMeasurable(against_common_l2(n, fields));
  const double l2 = bench->l2_bytes();
  return measured(fields >= 4 * l2, format("n = %d: %.0f MB, and the cache has %.0f MB: %.3g times",
                                           n, 1e-6 * fields, 1e-6 * l2, fields / l2));
}

Measured copy_from_dram(Bench* bench) {
  const int n = bench->default_n(bench->have.program);
  const double bytes = bench->dram_bytes("copy", n) / points(n);
  return measured(bytes > 7 && bytes < 9.6, format("%.3g bytes a point", bytes));
}

// ---- 08 -----------------------------------------------------------------------------------------

Measured one_atomic_a_block(Bench* bench) {
  double atomics = 0, blocks = 0;
  for (const auto& [line, kernel] : bench->counts(kCountedN, 1)) atomics += kernel.atomics;
  for (const TraceRow& kernel : bench->trace(bench->have.watched, kCountedN, 1).table("kernels")) {
    blocks = std::max(blocks, kernel.blocks * kernel.count);
  }
  if (blocks == 0) throw NotMeasurable("no kernel was launched");
  // Who counts the blocks that are done may add a few: one for each row of blocks, say.
  return measured(atomics <= 1.5 * blocks, format("%.4g a block, %.3g a point", atomics / blocks,
                                                  atomics / interior(kCountedN)));
}

Measured sum_stays(Bench* bench) {
  std::vector<std::string> touched;
  for (const auto& [line, count] : bench->host_accesses(kCountedN)) {
    if (count >= 0.5) touched.push_back(touched_words(line, count));
  }
  return measured(touched.empty(), touched.empty()
                                       ? "host code touches no managed memory in an iteration"
                                       : "in each iteration host code touches " + join(touched));
}

/// Nanoseconds an iteration of the kernels that make it, the copying one left out. By medians: the
/// first launch may wait for its pages.
double sweep_ns(Bench* bench, const std::string& program, int n, int iterations) {
  const Trace& trace = bench->trace(program, n, iterations);
  double ns = 0;
  for (const TraceRow& kernel : trace.table("kernels")) {
    if (kernel.name.find("copy") == std::string::npos) {
      ns += kernel.median_ns * kernel.count / iterations;
    }
  }
  if (ns == 0) throw NotMeasurable("no kernel was traced");
  return ns;
}

Measured sweep_faster(Bench* bench) {
  if (!bench->have.on_gpu) throw NotMeasurable("needs a GPU");
  const int n = bench->default_n(bench->have.program);
  const double before = sweep_ns(bench, bench->have.before, n, 5);
  const double now = sweep_ns(bench, bench->have.program, n, 20);
  return measured(before / now >= 20,
                  format("%.3g times: %.3g ms, and %.3g ms in the step before, at n = %d",
                         before / now, 1e-6 * now, 1e-6 * before, n));
}

// ---- 09 -----------------------------------------------------------------------------------------

Measured tile_in_shared_memory(Bench* bench) {
  double stores = 0;
  for (const auto& [line, kernel] : bench->counts(kCountedN, 1)) {
    stores = std::max(stores, kernel.shared_values / kernel.launches / interior(kCountedN));
  }
  return measured(stores >= 0.9, format("%.3g values a point are put there", stores));
}

Measured fewer_loads(Bench* bench) {
  // Without a tile a sweep loads each point and its four neighbours.
  constexpr double kWithout = 5;
  double loads = 0, requests = 0;
  for (const auto& [line, kernel] : bench->counts(kCountedN, 1)) {
    // The copy loads each point once, and the sweep more often.
    const double each = kernel.launches * interior(kCountedN);
    loads = std::max(loads, kernel.loads.bytes / sizeof(float) / each);
    requests = std::max(requests, 32 * kernel.loads.requests / each);
  }
  if (loads == 0) throw NotMeasurable("no kernel reads a field");
  return measured(
      loads <= 0.5 * kWithout,
      format("%.3g loads a point (%.0f without a tile); %.3g requests for 32 points (%.0f)", loads,
             kWithout, requests, kWithout));
}

Measured told_not_judged(Bench* bench) {
  if (!bench->have.on_gpu) throw NotMeasurable("needs a GPU");
  const int n = bench->default_n(bench->have.program);
  const double before = sweep_ns(bench, bench->have.before, n, 50);
  const double now = sweep_ns(bench, bench->have.program, n, 50);
  return measured(true, format("%.4g ms, and %.4g ms in the step before, at n = %d", 1e-6 * now,
                               1e-6 * before, n));
}

// ---- 10 to 13 -----------------------------------------------------------------------------------

Measured near_eight_bytes(Bench* bench) {
  const int n = bench->default_n(bench->have.program);
  const double bytes = bench->dram_bytes("sweep", n) / points(n);
  return measured(bytes <= 9, format("%.3g bytes a point, at n = %d", bytes, n));
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
  if (!bench->have.on_gpu) throw NotMeasurable("needs a GPU");
  constexpr double kNone = std::numeric_limits<double>::infinity();
  Times least = {bench->default_n(bench->have.program), kNone, kNone};
  for (int k = 0; k < runs; ++k) {
    least.now = std::min(least.now, bench->milliseconds(bench->have.program, least.n, iterations));
    least.before =
        std::min(least.before, bench->milliseconds(bench->have.before, least.n, iterations));
  }
  return least;
}

Measured iteration_shorter(Bench* bench) {
  const Times times = both_times(bench, 50, 1);
  return measured(times.now <= 0.6 * times.before,
                  format("%.3g ms, and %.3g ms in the step before, at n = %d: %.2g of it",
                         times.now, times.before, times.n, times.now / times.before));
}

Measured more_sweeps_a_second(Bench* bench) {
  const Times times = both_times(bench, 2000, 3);
  return measured(times.before >= 4.5 * times.now,
                  format("%.3g times: %.3g us a sweep, and %.3g us in the step before, at n = %d",
                         times.before / times.now, 1e3 * times.now, 1e3 * times.before, times.n));
}

/// What rows of that name tell, in a trace with twice as many sweeps less one with so many: what is
/// done once a run is left out. `trace_of(1)` and `trace_of(2)` are the two. "": all of the table.
double difference(const std::function<const Trace&(int)>& trace_of, const char* table,
                  const std::string& name, double TraceRow::*member) {
  double all = 0;
  for (const int times : {1, 2}) {
    for (const TraceRow& row : trace_of(times).table(table)) {
      if (row.name.find(name) != std::string::npos) all += (times == 1 ? -1 : 1) * row.*member;
    }
  }
  return all;
}

/// How often something was noted in kCountedSweeps sweeps, by the program that runs on the CPU.
constexpr int kCountedSweeps = 240;

double on_the_cpu(Bench* bench, const char* table, const std::string& name) {
  const std::string& program = bench->have.on_cpu;
  if (program.empty()) throw NotMeasurable("needs the program that runs on the CPU");
  return difference(
      [&](int times) -> const Trace& { return bench->trace(program, 64, times * kCountedSweeps); },
      table, name, &TraceRow::count);
}

Measured few_waits(Bench* bench) {
  const double waits = on_the_cpu(bench, "waits", "");
  return measured(5 * waits <= kCountedSweeps,
                  format("the host waits %.3g times in %d sweeps", waits, kCountedSweeps));
}

Measured waits_late(Bench* bench) {
  const double waits = on_the_cpu(bench, "waits", "");
  const double idle = on_the_cpu(bench, "waits", "no kernels left");
  return measured(idle == 0, format("after %.3g of %.3g waits it has nothing left", idle, waits));
}

Measured sweeps_together(Bench* bench) {
  const double kernels = on_the_cpu(bench, "handed over", "kernel");
  const double graphs = on_the_cpu(bench, "handed over", "graph");
  return measured(3 * (kernels + graphs) <= kCountedSweeps,
                  format("%.3g kernels and %.3g graphs are launched in %d sweeps", kernels, graphs,
                         kCountedSweeps));
}

/// Bandwidth at 8 bytes an update over that of a copy, both measured now.
Measured share_of_copy(Bench* bench, int iterations, double least) {
  if (!bench->have.on_gpu) throw NotMeasurable("needs a GPU");
  const int n = bench->default_n(bench->have.program);
  const double ms = bench->milliseconds(bench->have.program, n, iterations);
  const double share = 8 * points(n) / (1e-3 * ms) / bench->copy_bandwidth();
  return measured(share >= least, format("%.3g times: %.4g ms a sweep at n = %d, %.0f GB/s", share,
                                         ms, n, 8e-6 * points(n) / ms));
}

Measured near_copy(Bench* bench) { return share_of_copy(bench, 200, 0.8); }
Measured past_copy(Bench* bench) { return share_of_copy(bench, 480, 4); }

Measured several_sweeps_a_launch(Bench* bench) {
  const double launches = on_the_cpu(bench, "kernels", "");
  return measured(4 * launches <= kCountedSweeps,
                  format("%.3g kernels make %d sweeps", launches, kCountedSweeps));
}

// ---- 14, 15: jobs of ranks --------------------------------------------------------------------

/// What a job of two ranks, of which each has one neighbour, does in kJobSweeps sweeps and the
/// checks among them: a run with more checks less one with fewer.
constexpr int kJobCheck = 48, kJobChecks = 2, kJobSweeps = kJobCheck * kJobChecks;
constexpr int kJobN = 128;

double of_job(Bench* bench, const char* table, const std::string& name, double TraceRow::*member) {
  return difference(
      [&](int times) -> const Trace& {
        return bench->trace_job(kJobN, times * kJobSweeps, kJobCheck);
      },
      table, name, member);
}

Measured exchange_before_passes(Bench* bench) {
  const double messages = of_job(bench, "libraries", "ncclSend", &TraceRow::count) / 2;
  const double bytes = of_job(bench, "libraries", "ncclSend", &TraceRow::bytes) / 2;
  if (messages == 0) return measured(false, "ncclSend is not called");
  const double sweeps = kJobSweeps / messages, rows = bytes / messages / (kJobN * sizeof(float));
  return measured(sweeps >= 4 && rows <= 1.1 * sweeps,
                  format("%.3g rows to each neighbour, every %.3g sweeps", rows, sweeps));
}

Measured nothing_through_host(Bench* bench) {
  double bytes = 0;
  for (const char* host : {"pageable", "pinned"}) {
    bytes += of_job(bench, "copies", host, &TraceRow::bytes) / 2;
  }
  const double a_sweep = bytes / kJobSweeps;
  return measured(a_sweep <= sizeof(double),
                  format("%.3g bytes a sweep and rank between a GPU and its host", a_sweep));
}

Measured sums_at_checks(Bench* bench) {
  const double sums = of_job(bench, "libraries", "ncclAllReduce", &TraceRow::count) / 2;
  return measured(sums > 0 && sums <= kJobChecks,
                  format("%.3g in %d checks, and %d sweeps", sums, kJobChecks, kJobSweeps));
}

Measured exchange_beside_kernel(Bench* bench) {
  const double beside = of_job(bench, "beside a kernel", "ncclSend", &TraceRow::count) / 2;
  const double alone = of_job(bench, "beside no kernel", "ncclSend", &TraceRow::count) / 2;
  if (beside + alone == 0) return measured(false, "ncclSend is not called");
  return measured(
      beside >= 0.99 * (beside + alone),
      format("%.3g of %.3g have a kernel that need not wait for them", beside, beside + alone));
}

Measured host_waits_late(Bench* bench) {
  const double waits = of_job(bench, "waits", "kernels left", &TraceRow::count) / 2;
  const double idle = of_job(bench, "waits", "no kernels left", &TraceRow::count) / 2;
  return measured(idle == 0,
                  format("in %d checks and %d sweeps the host waits %.3g times; after %.3g of them "
                         "the GPU has nothing left to do",
                         kJobChecks, kJobSweeps, waits, idle),
                  waits > kJobChecks
                      ? "It waits more often than once a check: what waits in a pass "
                        "(cudaDeviceSynchronize, ranks.wait, a copy that is not asynchronous)?"
                      : "");
}

// Large enough for passes that outlast an exchange, and smaller than the step's own n: there it is
// harder to hide.
constexpr int kScalingN = 16384, kScalingSweeps = 1920;

Measured scales(Bench* bench) {
  const int ranks = bench->ranks_with_gpus();
  const std::string& program = bench->have.program;
  const double one = bench->milliseconds_of_job(program, 1, kScalingN, kScalingSweeps);
  const double all = bench->milliseconds_of_job(program, ranks, kScalingN, kScalingSweeps);
  const double efficiency = one / all / ranks;
  return measured(efficiency >= 0.85,
                  format("%d GPUs: %.3g times as fast as one, %.3g %% of %d, at n = %d", ranks,
                         one / all, 100 * efficiency, ranks, kScalingN));
}

Measured faster_than_blocking(Bench* bench) {
  const int ranks = bench->ranks_with_gpus();
  const double now =
      bench->milliseconds_of_job(bench->have.program, ranks, kScalingN, kScalingSweeps);
  const double before =
      bench->milliseconds_of_job(bench->have.before, ranks, kScalingN, kScalingSweeps);
  return measured(now <= 0.97 * before,
                  format("%.4g us a sweep, and %.4g us in step 14, on %d GPUs at "
                         "n = %d",
                         1e3 * now, 1e3 * before, ranks, kScalingN));
}

// ---- the table ----------------------------------------------------------------------------------

struct Goal {
  int step;
  const char* goal;
  std::function<Measured(Bench*)> measure;
  const char* advice;  // where it is missed
};

const std::vector<Goal>& goals() {
  static const std::vector<Goal> table = {
      {1, "two ranges that are entered once an iteration", ranges_in_loop,
       "Push a range at the beginning of jacobi_sweep and of copy_field, and pop it at their end."},
      {1, "three more around what is done outside the loop", ranges_outside,
       "Give allocate_fields, initialize_field and free_fields a range, too."},
      {1, "every range that is opened is closed", ranges_closed, kCloseRanges},
      {2, "both fields in managed memory", fields_managed,
       "cudaMallocManaged for both fields, cudaFree in the end."},
      {2, "what is allocated is freed in the end", everything_freed,
       "Memory of cudaMallocManaged needs cudaFree."},
      {3, "sweeps and copies are 95 % of the run", work_outweighs_start,
       "The grid is too small for its start-up: raise kDefaultN."},
      {4, "kernels make the sweep", sweep_on_gpu,
       "Launch the kernel once a sweep; the loops over i and j on the CPU go."},
      {5, "the copy is made on the GPU, too", copy_on_gpu,
       "Let copy_field launch a kernel with a thread for each point."},
      {5, "host code leaves the fields to the GPU", fields_stay,
       "Host code reads or writes that memory in each iteration: a loop, std::copy, or a function "
       "that main calls. A kernel has to do it."},
      {5, "pages no longer migrate: under 1 % of a field an iteration", migration_stopped,
       "Something on the CPU still touches a field in the loop: its pages come and go."},
      {6, "every kernel's accesses are coalesced: near 4 sectors a request", coalesced,
       "Neighbours in threadIdx.x are to be neighbours in memory: look at idx, line by line with "
       "make count."},
      {7, "both fields are 4 times the L2 cache or more", beyond_l2, "Raise kDefaultN."},
      {7, "the copy kernel moves near 8 bytes a point from and to DRAM", copy_from_dram,
       "Fewer: the fields are still in the L2 cache. More: accesses are not coalesced."},
      {8, "one atomic addition a block at most", one_atomic_a_block,
       "Add up the block by cub::BlockReduce, and let one of its threads do the atomicAdd."},
      {8, "host code leaves the sum to the GPU: its page does not move", sum_stays,
       "cudaMemset sets the sum to zero where it is, and cudaMemcpy fetches it."},
      {8, "a sweep 20 times faster than in the step before", sweep_faster,
       "What do its warps wait for? make ncu STEP=08 tells."},
      {9, "neighbours come from shared memory", tile_in_shared_memory,
       "Load the block's points and the halo around them into a __shared__ array first."},
      {9, "at most half the loads from global memory", fewer_loads,
       "Read the neighbours from the tile, no longer from f_old: make count shows each line."},
      {9, "the sweep's time (told, not judged)", told_not_judged, ""},
      {10, "no field is copied any more", no_copy,
       "Swap the two pointers after the sweep, and leave out the copy."},
      {10, "at most 9 bytes a point from and to DRAM", near_eight_bytes,
       "A sweep that reads and writes each point once moves 8: what is left that moves more?"},
      {10, "an iteration takes at most 0.6 of its time before", iteration_shorter,
       "What does the loop do beside the sweep? make trace STEP=10 shows it."},
      {11, "the host waits once in 5 sweeps at most", few_waits,
       "A residual every kCheckEvery sweeps, and nothing else in the loop that waits."},
      {11, "the host never waits for a GPU that has nothing more to do", waits_late,
       "Queue the next pass first; then wait for the residual of the pass before it."},
      {11, "3 sweeps or more by one launch", sweeps_together,
       "Capture the sweeps of a pass as a graph: cudaGraphLaunch launches all of them."},
      {11, "4.5 times the sweeps a second of the step before", more_sweeps_a_second,
       "Is the sum made by every sweep, or by the last of a pass alone? See make trace STEP=11."},
      {12, "0.8 of the bandwidth of a copy", near_copy,
       "Are the loads 16 bytes wide, and are several rows under way? make ncu STEP=12 tells."},
      {13, "a kernel makes 4 sweeps or more", several_sweeps_a_launch,
       "kLevels: how many sweeps a row goes through before it is stored."},
      {13, "4 times as fast as a copy could make one sweep", past_copy,
       "Several sweeps a trip to memory: do the registers spill (make ncu STEP=13)?"},
      {14, "neighbours exchange once for several sweeps, a row for each", exchange_before_passes,
       "Before each pass ncclSend and ncclRecv, as many rows as it makes sweeps."},
      {14, "with NCCL no row goes through a host", nothing_through_host,
       "Where ranks.has_nccl(): rows go from GPU to GPU; the host needs the residual alone."},
      {14, "a sum over the ranks at checks alone", sums_at_checks,
       "ncclAllReduce once a check, of the last pass's sum."},
      {15, "each exchange may go on beside a kernel", exchange_beside_kernel,
       "The exchange behind the ends, in their stream; the rest in another one, and neither waits "
       "for the other."},
      {15, "the host never waits for a GPU that has nothing more to do", host_waits_late,
       "Queue the next sweeps first; then wait for the residual of those before them."},
      {15, "R GPUs are 0.85 R times as fast as one", scales,
       "What is exposed? make nsys STEP=15 shows the exchange, and what the GPU does meanwhile."},
      {15, "at most 0.97 of step 14's time", faster_than_blocking,
       "Do the ends come first, and does the rest leave multiprocessors to NCCL?"},
  };
  return table;
}

}  // namespace

std::vector<GoalResult> measure_goals(int number, Bench* bench) {
  std::vector<GoalResult> findings;
  for (const Goal& goal : goals()) {
    if (goal.step != number) continue;
    GoalResult finding;
    finding.goal = goal.goal;
    try {
      const Measured result = goal.measure(bench);
      finding.kind = result.reached ? GoalResult::kReached : GoalResult::kMissed;
      finding.found = result.found;
      finding.advice = result.advice.empty() ? goal.advice : result.advice;
    } catch (const NotMeasurable& reason) {
      finding.found = reason.what();
    }
    findings.push_back(finding);
  }
  return findings;
}

}  // namespace validate
